import CCurl
import EventLoops
import GatewayTypes
import Glibc

/// Calls over libcurl's multi interface: those over TLS, with HTTP/2 where the peer speaks it. On its loop, all of it.
///
/// Connections are kept open and shared by calls to the same place. A descriptor stays watched for reading between
/// calls, since curl's own asking to stop and start again would cost four system calls a request.
final class CurlClient: WatcherDelegate {
    private let loop: EventLoop
    private let multi: UnsafeMutableRawPointer
    private var watchers: [curl_socket_t: Watcher] = [:]
    /// What was wanted of numbers that curl has closed and opened again in one go.
    private var reopened: [curl_socket_t: Readiness] = [:]
    private var pools: [ObjectIdentifier: EndpointPool] = [:]
    private var calls: [UnsafeMutableRawPointer: CurlCall] = [:]
    private let timer = LoopTimer()
    private var isActing = false
    /// curl wants to be called at once.
    private var isDue = false
    private var isKicked = false
    private var isFinishing = false
    private static let prepareCurl: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// Nil when libcurl can't be set up.
    init?(loop: EventLoop) {
        guard Self.prepareCurl, let multi = curl_multi_init() else { return nil }
        self.loop = loop
        self.multi = multi
        let me = Unmanaged.passUnretained(self).toOpaque()
        _ = ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 4096)
        _ = ccurl_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, me)
        _ = ccurl_multi_set_socket_function(multi) { easy, socket, what, context, _ in
            guard let context else { return 0 }
            Unmanaged<CurlClient>.fromOpaque(context).takeUnretainedValue().interest(in: socket, what, of: easy)
            return 0
        }
        _ = ccurl_multi_set_pointer(multi, CURLMOPT_TIMERDATA, me)
        _ = ccurl_multi_set_timer_function(multi) { _, milliseconds, context in
            guard let context else { return 0 }
            Unmanaged<CurlClient>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds)
            return 0
        }
        self.timer.action = { [unowned self] in self.timeOut() }
    }

    deinit {
        self.loop.remove(self.timer)
        for call in self.calls.values { curl_multi_remove_handle(self.multi, call.handle.easy) }
        self.calls = [:]
        self.pools = [:]
        for watcher in self.watchers.values { watcher.close() }
        curl_multi_cleanup(self.multi)
    }

    /// Calls in flight.
    var openCalls: Int { self.calls.count }

    /// Starts a POST. The receiver is held until the call ends and is never called from inside this function.
    ///
    /// - Parameters:
    ///   - expectsStream: whether the answer comes in many small pieces.
    ///   - deadline: for the whole call.
    /// - Returns: nil when as many calls are open as the endpoint's cap lets.
    func start(
        _ endpoint: UpstreamEndpoint, body: [UInt8], expectsStream: Bool, deadline: TimeSpan,
        receiver: any UpstreamReceiver
    ) -> CurlCall? {
        let pool = self.pool(of: endpoint)
        guard endpoint.cap.enter() else { return nil }
        guard let call = self.begin(endpoint, pool, body, expectsStream, receiver) else {
            endpoint.cap.leave()
            return nil
        }
        call.deadline.action = { [unowned self, unowned call] in self.expire(call) }
        self.loop.arm(call.deadline, after: deadline)
        if call.hasEarlyNews() { self.loop.later { call.tellEarly() } }
        return call
    }

    private func begin(
        _ endpoint: UpstreamEndpoint, _ pool: EndpointPool, _ body: [UInt8], _ expectsStream: Bool,
        _ receiver: any UpstreamReceiver
    ) -> CurlCall? {
        guard
            let handle = pool.take(expectsStream: expectsStream)
                ?? CurlHandle(endpoint: endpoint, expectsStream: expectsStream, client: self)
        else { return nil }
        let call = CurlCall(
            handle: handle, pool: pool, expectsStream: expectsStream, client: self, body: body, receiver: receiver)
        call.prepare()
        guard self.add(call) else { return nil }
        pool.openCalls += 1
        return call
    }

    /// The whole time of a call is over.
    private func expire(_ call: CurlCall) {
        let receiver = call.receiver
        let failure = self.failure(of: call, CURLE_OPERATION_TIMEDOUT)
        call.cancel()
        receiver?.upstreamEnded(failure)
    }

    private func pool(of endpoint: UpstreamEndpoint) -> EndpointPool {
        if let pool = self.pools[ObjectIdentifier(endpoint)] { return pool }
        // A reload leaves endpoints behind; a new one is the moment to let them go.
        self.pools = self.pools.filter { !$0.value.isAbandoned() }
        let pool = EndpointPool(endpoint)
        self.pools[ObjectIdentifier(endpoint)] = pool
        return pool
    }

    /// Lets curl write the request at once instead of on the loop's next turn.
    private func add(_ call: CurlCall) -> Bool {
        let nested = self.isActing
        self.isActing = true
        defer { self.isActing = nested }
        guard curl_multi_add_handle(self.multi, call.handle.easy) == CURLM_OK else { return false }
        self.calls[call.handle.easy] = call
        guard !nested else {
            self.kick()
            return true
        }
        self.isDue = false
        var running: Int32 = 0
        curl_multi_socket_action(self.multi, CURL_SOCKET_TIMEOUT, 0, &running)
        self.watchReopened()
        if self.isDue { self.kick() }
        // A call that has ended already is reported on the next turn, after the caller has it in hand.
        if Int(running) < self.calls.count { self.finishLater() }
        return true
    }

    private func finishLater() {
        guard !self.isFinishing else { return }
        self.isFinishing = true
        self.loop.later { [self] in
            self.isFinishing = false
            self.finishCalls()
        }
    }

    /// Looks at all calls on the loop's next turn.
    func kick() {
        guard !self.isKicked else { return }
        self.isKicked = true
        self.loop.later { [self] in
            self.isKicked = false
            self.timeOut()
        }
    }

    /// Takes a call out; its connection is closed when the answer was not complete.
    func abandon(_ call: CurlCall) {
        guard self.calls[call.handle.easy] === call else { return }
        // curl lets nobody take a call out from inside what another one tells.
        guard !self.isActing else { return self.loop.later { self.abandon(call) } }
        self.calls[call.handle.easy] = nil
        curl_multi_remove_handle(self.multi, call.handle.easy)
        self.release(call)
    }

    private func release(_ call: CurlCall) {
        self.loop.remove(call.deadline)
        call.pool.openCalls -= 1
        call.pool.endpoint.cap.leave()
        call.pool.give(call.handle, expectsStream: call.expectsStream)
    }

    func wallTime() -> WallTime { self.loop.clock.wallTime() }

    // MARK: Events

    func watcher(_ watcher: Watcher, isReady readiness: Readiness) {
        guard !watcher.wanted.isEmpty else {
            // An idle connection that the peer closed or wrote to: curl finds out when it next wants it.
            watcher.watch([])
            return
        }
        var mask: Int32 = 0
        if readiness.contains(.readable) { mask |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { mask |= CURL_CSELECT_OUT }
        self.act(watcher.descriptor, mask)
    }

    private func timeOut() { self.act(CURL_SOCKET_TIMEOUT, 0) }

    /// Stops a call, or lets it go on; then curl hands over at once what it holds.
    func pause(_ call: CurlCall, _ paused: Bool) {
        let nested = self.isActing
        self.isActing = true
        curl_easy_pause(call.handle.easy, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        self.isActing = nested
        if !paused { self.kick() }
    }

    /// Ends a call whose receiver refused what `pause` handed over, which curl itself does not do.
    func giveUp(_ call: CurlCall) {
        let receiver = call.receiver
        call.receiver = nil
        self.abandon(call)
        guard let receiver else { return }
        self.loop.later { receiver.upstreamEnded(.cancelled) }
    }

    private func act(_ socket: curl_socket_t, _ mask: Int32) {
        guard !self.isActing else { return self.kick() }
        self.isActing = true
        self.isDue = false
        var running: Int32 = 0
        curl_multi_socket_action(self.multi, socket, mask, &running)
        self.watchReopened()
        self.isActing = false
        if self.isDue { self.kick() }
        if Int(running) < self.calls.count { self.finishCalls() }
    }

    private func finishCalls() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(self.multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let result = ccurl_message_result(message)
            guard let call = self.calls.removeValue(forKey: easy) else { continue }
            let failure = self.failure(of: call, result)
            curl_multi_remove_handle(self.multi, easy)
            self.release(call)
            call.tellEarly()
            let receiver = call.receiver
            call.receiver = nil
            receiver?.upstreamEnded(failure)
        }
    }

    private func failure(of call: CurlCall, _ result: CURLcode) -> HTTPClientFailure? {
        // curl takes a head that breaks off for a whole answer without a body.
        guard result != CURLE_OK else { return call.headIsDone ? nil : .broken }
        guard !call.headTooLarge else { return .headTooLarge }
        var sent: curl_off_t = 0
        _ = ccurl_get_size(call.handle.easy, CURLINFO_PRETRANSFER_TIME_T, &sent)
        return HTTPClientFailure(result, connected: sent > 0)
    }

    // MARK: Asked for by curl

    private func interest(in socket: curl_socket_t, _ what: Int32, of easy: UnsafeMutableRawPointer?) {
        guard what != CURL_POLL_REMOVE else {
            self.watchers[socket]?.wanted = []
            // Before the first word of an answer curl closes sockets without `closeSocket`: those that are connecting,
            // and those its resolver wakes it by. The number may be another socket's in a moment.
            if let easy, self.calls[easy]?.hasBeenAnswered != true { self.forget(socket) }
            return
        }
        var readiness: Readiness = []
        if what & CURL_POLL_IN != 0 { readiness.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { readiness.insert(.writable) }
        self.watch(socket, readiness)
    }

    private func watch(_ socket: curl_socket_t, _ readiness: Readiness) {
        guard let watcher = self.watchers[socket] ?? self.newWatcher(socket) else { return }
        watcher.wanted = readiness
        watcher.watch(readiness)
    }

    private func newWatcher(_ socket: curl_socket_t) -> Watcher? {
        guard let watcher = try? Watcher(socket, on: self.loop) else { return nil }
        watcher.delegate = self
        self.watchers[socket] = watcher
        return watcher
    }

    private func forget(_ socket: curl_socket_t) {
        self.watchers.removeValue(forKey: socket)?.close()
        self.reopened[socket] = nil
    }

    /// A new socket has this number; a watch on it is one of a socket that curl has closed.
    func openedSocket(_ socket: curl_socket_t) {
        guard let wanted = self.watchers[socket]?.wanted else { return }
        self.forget(socket)
        self.reopened[socket] = wanted
    }

    /// curl says nothing when a new socket wants what the one before it with its number did.
    private func watchReopened() {
        guard !self.reopened.isEmpty else { return }
        for (socket, readiness) in self.reopened where self.watchers[socket] == nil && !readiness.isEmpty {
            self.watch(socket, readiness)
        }
        self.reopened = [:]
    }

    func closeSocket(_ socket: curl_socket_t) -> Int32 {
        self.forget(socket)
        return Glibc.close(socket)
    }

    private func setTimer(_ milliseconds: Int) {
        if milliseconds < 0 { return self.loop.cancel(self.timer) }
        if milliseconds == 0 {
            self.isDue = true
            if !self.isActing { self.kick() }
            return
        }
        self.loop.arm(self.timer, after: .milliseconds(Int64(milliseconds)))
    }
}
