package import EventLoops
package import GatewayTypes

/// What a bounded GET brought.
package struct FetchedAnswer: Sendable {
    package var status: Int
    /// The fields that were asked for, by lower-case name; several fields of one name joined by commas.
    package var fields: [String: String]
    package var body: [UInt8]
}

/// Why a bounded GET brought nothing.
package enum FetchFailure: Error, Hashable, Sendable, MetricLabel {
    case call(HTTPClientFailure)
    /// The body is longer than the caller takes; the connection was closed.
    case tooLarge
    /// The address is neither https nor http on this machine.
    case notAllowed

    package var metricLabel: String {
        switch self {
        case .call(let failure): failure.metricLabel
        case .tooLarge: "too_large"
        case .notAllowed: "not_allowed"
        }
    }
}

/// A small document to fetch whole.
package struct BoundedGet: Sendable {
    /// Absolute; https, or http on the loopback.
    package var url: String
    /// Sent with it: name and value.
    package var headers: [(name: String, value: String)] = []
    /// Fields of the answer that are wanted, in lower case.
    package var fields: [String] = []
    /// Largest body in bytes.
    package var limit: Int
    package var connectTimeout = TimeSpan.seconds(2)
    /// For the whole call.
    package var timeout: TimeSpan
    /// A PEM file of trusted roots in place of the system's.
    package var certificateFile: String?

    package init(url: String, limit: Int, timeout: TimeSpan) {
        self.url = url
        self.limit = limit
        self.timeout = timeout
    }

    /// Whether something may be fetched from here without its answer being anybody's on the way.
    package static func isAllowed(_ url: String) -> Bool {
        guard url.utf8.count <= 2048, url.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != 0x5C }) else {
            return false
        }
        let isSecure = url.lowercased().hasPrefix("https://")
        guard let host = Self.host(of: url), !host.isEmpty else { return false }
        return isSecure || Self.isLoopback(url)
    }

    /// Whether the address names this machine.
    package static func isLoopback(_ url: String) -> Bool {
        guard let host = Self.host(of: url) else { return false }
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The host in lower case; nil for other schemes and for addresses with user information.
    private static func host(of url: String) -> String? {
        let lowered = url.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowered.hasPrefix) else { return nil }
        let authority = lowered.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return nil }
        if authority.hasPrefix("[") { return authority.firstIndex(of: "]").map { String(authority[...$0]) } }
        return String(authority.prefix { $0 != ":" })
    }
}

extension UpstreamClient {
    /// Fetches a document whole, following no redirect. On the loop; ends early when the task is cancelled.
    package func get(_ get: BoundedGet, on loop: EventLoop) async -> Result<FetchedAnswer, FetchFailure> {
        guard BoundedGet.isAllowed(get.url) else { return .failure(.notAllowed) }
        let endpoint = UpstreamEndpoint(
            url: get.url, headers: get.headers.map { ($0.name, Secret($0.value)) }, connectTimeout: get.connectTimeout,
            certificateFile: get.certificateFile, isGet: true,
            wantedFields: get.fields)
        let receiver = BoundedReceiver(get)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                receiver.continuation = continuation
                receiver.call = self.start(
                    endpoint, body: [], expectsStream: false, deadline: get.timeout, receiver: receiver)
                if receiver.call == nil { receiver.finish(.failure(.call(.unusable))) }
                if Task.isCancelled { receiver.cancel() }
            }
        } onCancel: {
            loop.submit { receiver.cancel() }
        }
    }
}

/// Gathers one answer. Touched on its loop's thread only, hence unchecked.
private final class BoundedReceiver: UpstreamReceiver, @unchecked Sendable {
    var continuation: UnsafeContinuation<Result<FetchedAnswer, FetchFailure>, Never>?
    var call: (any UpstreamCall)?
    private let get: BoundedGet
    private var answer = FetchedAnswer(status: 0, fields: [:], body: [])
    private var isTooLarge = false

    init(_ get: BoundedGet) { self.get = get }

    func upstreamAnswered(_ head: UpstreamHead) {
        self.answer.status = head.status
        self.answer.fields = head.fields
    }

    func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= self.get.limit - self.answer.body.count else {
            self.isTooLarge = true
            return false
        }
        self.answer.body.append(contentsOf: bytes)
        return true
    }

    func upstreamEnded(_ failure: HTTPClientFailure?) {
        if self.isTooLarge { return self.finish(.failure(.tooLarge)) }
        self.finish(failure.map { .failure(.call($0)) } ?? .success(self.answer))
    }

    func cancel() {
        self.call?.cancel()
        self.finish(.failure(.call(.cancelled)))
    }

    func finish(_ result: Result<FetchedAnswer, FetchFailure>) {
        self.call = nil
        self.continuation?.resume(returning: result)
        self.continuation = nil
    }
}
