import CCurl
import EventLoops

/// One call on its way over libcurl. On its loop.
final class CurlCall: UpstreamCall {
    let handle: CurlHandle
    /// Where the handle goes back to.
    let pool: EndpointPool
    let expectsStream: Bool
    /// Ends the call when its whole time is over. Not curl's own timer: that one keeps every open call in a tree which
    /// is walked and rebuilt at every event.
    let deadline = LoopTimer()
    private let client: CurlClient
    /// The receiver is dropped at the end, which ends the circle of references.
    var receiver: (any UpstreamReceiver)?
    var head = UpstreamHead(status: 0, contentType: "")
    private var headBytes = 0
    private(set) var headIsDone = false
    /// Whether any word of an answer has come.
    var hasBeenAnswered: Bool { self.headBytes > 0 }
    private(set) var headTooLarge = false
    private var isInCallback = false
    /// The receiver has cancelled from inside a callback, or refused a piece.
    private var isRefused = false
    private var isPaused = false
    private var body: [UInt8]
    /// What a near peer has answered before `CurlClient.start` returned; nil once the caller has the call in hand.
    private var early: Early? = Early()

    private struct Early {
        var hasHead = false
        var bytes: [UInt8] = []
    }

    init(
        handle: CurlHandle, pool: EndpointPool, expectsStream: Bool, client: CurlClient, body: [UInt8],
        receiver: any UpstreamReceiver
    ) {
        self.handle = handle
        self.pool = pool
        self.expectsStream = expectsStream
        self.client = client
        self.receiver = receiver
        self.body = body
    }

    /// Lends the body to curl, which reads it until an answer begins; nothing touches `body` before, so the pointer
    /// stands.
    func prepare() {
        let easy = self.handle.easy
        // Setting a body would turn a GET into a POST.
        if !self.handle.isGet { self.lendBody() }
        _ = ccurl_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        _ = ccurl_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
        _ = ccurl_set_pointer(easy, CURLOPT_HEADERDATA, Unmanaged.passUnretained(self).toOpaque())
    }

    private func lendBody() {
        let easy = self.handle.easy
        self.body.withUnsafeBytes { bytes in
            _ = ccurl_set_const_pointer(easy, CURLOPT_POSTFIELDS, bytes.baseAddress)
            _ = ccurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
        }
    }

    /// Gives the call up; the connection is closed and the receiver hears nothing more.
    func cancel() {
        self.receiver = nil
        guard !self.isInCallback else {
            self.isRefused = true
            return
        }
        self.client.abandon(self)
    }

    /// Stops or goes on reading from the provider: the kernel's window then slows the sender.
    func setPaused(_ paused: Bool) {
        guard self.receiver != nil, paused != self.isPaused else { return }
        self.isPaused = paused
        self.client.pause(self, paused)
        if self.isRefused, !self.isInCallback { self.client.giveUp(self) }
    }

    // MARK: Before the caller has it in hand

    /// The caller has the call in hand from now on, unless something has come that it is to be told first.
    ///
    /// - Returns: whether `tellEarly` is to be called on the loop's next turn.
    func hasEarlyNews() -> Bool {
        if self.early?.hasHead != true { self.early = nil }
        return self.early != nil
    }

    /// Tells what has come early, once.
    func tellEarly() {
        guard let early = self.early else { return }
        self.early = nil
        _ = self.tellHead()
        if !early.bytes.isEmpty { _ = early.bytes.withUnsafeBytes { self.receivedBody($0) } }
        if self.isRefused { self.client.giveUp(self) }
    }

    // MARK: Called by curl

    /// Takes one header line; false gives the call up.
    func receivedHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        self.headBytes += line.count
        guard self.headBytes <= 65536 else {
            self.headTooLarge = true
            return false
        }
        if line.starts(with: "HTTP/".utf8) {
            self.head = UpstreamHead(status: 0, contentType: "")
        } else if line.count <= 2 {
            return self.endHead()
        } else if let value = Self.value(of: "content-type:", in: line, atMost: 100) {
            self.head.contentType = value.lowercased()
        } else if let value = Self.value(of: "retry-after:", in: line, atMost: 64) {
            self.head.retryAfterSeconds = RetryAfter.seconds(value, now: self.client.wallTime())
        }
        return true
    }

    /// The value of a header line with this lower-case name, trimmed.
    private static func value(of name: StaticString, in line: UnsafeRawBufferPointer, atMost: Int) -> String? {
        let count = name.utf8CodeUnitCount
        guard line.count > count else { return nil }
        for index in 0..<count where line[index] | (name.utf8Start[index] == 0x2D ? 0 : 0x20) != name.utf8Start[index] {
            return nil
        }
        let rest = line[count...]
        guard let first = rest.firstIndex(where: { $0 > 0x20 }), let last = rest.lastIndex(where: { $0 > 0x20 }) else {
            return ""
        }
        return String(decoding: line[first...last].prefix(atMost), as: UTF8.self)
    }

    private func endHead() -> Bool {
        var status = 0
        ccurl_get_long(self.handle.easy, CURLINFO_RESPONSE_CODE, &status)
        // Interim answers and trailers come through here as well.
        guard status >= 200, !self.headIsDone else { return true }
        self.headIsDone = true
        self.releaseBody()
        self.head.status = status
        if !self.handle.wantedFields.isEmpty { self.takeWantedFields() }
        guard self.early == nil else {
            self.early?.hasHead = true
            return true
        }
        return self.tellHead()
    }

    /// A stream may be open for long after its body was sent. A peer may also answer before it has read all, and curl
    /// then goes on sending.
    private func releaseBody() {
        var sent: curl_off_t = 0
        _ = ccurl_get_size(self.handle.easy, CURLINFO_SIZE_UPLOAD_T, &sent)
        if sent >= curl_off_t(self.body.count) { self.body = [] }
    }

    private func tellHead() -> Bool {
        self.inCallback {
            $0.upstreamAnswered(self.head); return true
        }
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self.early == nil else {
            self.early?.bytes.append(contentsOf: bytes)
            return true
        }
        return self.inCallback { $0.upstreamReceived(bytes) }
    }

    private func inCallback(_ deliver: (any UpstreamReceiver) -> Bool) -> Bool {
        guard let receiver = self.receiver, !self.isRefused else { return false }
        self.isInCallback = true
        defer { self.isInCallback = false }
        if !deliver(receiver) { self.isRefused = true }
        return !self.isRefused
    }
}

extension CurlCall {
    /// Puts the fields that the endpoint wants into the head, which has just ended. Not the receiver's to ask for: it
    /// may be told of a quick answer before it has the call in hand.
    func takeWantedFields() {
        for name in self.handle.wantedFields { self.head.fields[name] = self.field(name) }
    }

    /// The values of a field of the answer, joined by commas, 1024 bytes at most.
    private func field(_ name: String) -> String? {
        var values: [String] = []
        var found: UnsafeMutablePointer<curl_header>?
        while values.count < 8,
            curl_easy_header(self.handle.easy, name, values.count, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK,
            let value = found?.pointee.value
        { values.append(String(cString: value)) }
        let joined = values.joined(separator: ",")
        return values.isEmpty || joined.utf8.count > 1024 ? nil : joined
    }
}
