import EventLoops
import GatewayTypes
import HTTPClient
import JSON

/// Calls the admin API of a running gateway.
struct AdminClient: Sendable {
    /// Absolute, without a slash at its end.
    let url: String
    /// Nil for what asks for none.
    let token: Secret?
    /// A PEM file of trusted roots in place of the system's.
    let certificateFile: String?
    /// For one call.
    var deadline = TimeSpan.seconds(15)

    /// Largest answer taken, in bytes.
    fileprivate static let mostBytes = 8 << 20

    /// Makes one call and waits for its whole answer.
    ///
    /// - Parameters:
    ///   - path: with its query, encoded.
    ///   - version: what the holder's version has to be.
    func call(
        _ method: String, _ path: String, body: [UInt8] = [], version: Int? = nil
    ) async throws(UnreachableFailure) -> AdminAnswer {
        let group: EventLoopGroup
        do {
            group = try EventLoopGroup(count: 1)
        } catch {
            throw UnreachableFailure(reason: String(describing: error))
        }
        defer { group.shutDown() }
        let endpoint = self.endpoint(method, path, version: version)
        let result = await withTaskGroup(of: Result<AdminAnswer, UnreachableFailure>.self) { tasks in
            let loop = group.loops[0]
            tasks.addTask(executorPreference: loop) { await Self.run(endpoint, body, self.deadline, on: loop) }
            return await tasks.next() ?? .failure(UnreachableFailure(reason: "cancelled"))
        }
        return try result.get()
    }

    private func endpoint(_ method: String, _ path: String, version: Int?) -> UpstreamEndpoint {
        var headers: [(name: String, value: Secret)] = [
            ("Content-Type", Secret("application/json")), ("Accept", Secret("application/json")),
        ]
        if let token { headers.append(("Authorization", token.prefixed(with: "Bearer "))) }
        if let version { headers.append(("If-Match", Secret("\"\(version)\""))) }
        return UpstreamEndpoint(
            url: self.url + path, headers: headers, certificateFile: self.certificateFile, method: method)
    }

    private static func run(
        _ endpoint: UpstreamEndpoint, _ body: [UInt8], _ deadline: TimeSpan, on loop: EventLoop
    ) async -> Result<AdminAnswer, UnreachableFailure> {
        guard let client = UpstreamClient(loop: loop) else {
            return .failure(UnreachableFailure(reason: "the HTTP client cannot be set up"))
        }
        let receiver = AnswerReceiver()
        let result = await withUnsafeContinuation { continuation in
            receiver.continuation = continuation
            let call = client.start(
                endpoint, body: body, expectsStream: false, deadline: deadline, receiver: receiver)
            if call == nil { receiver.finish(.failure(UnreachableFailure(reason: "the address is not usable"))) }
            receiver.call = call
        }
        return withExtendedLifetime(client) { result }
    }
}

/// What a call was answered with.
struct AdminAnswer: Sendable {
    var status = 0
    var body: [UInt8] = []

    /// Nil when the body is no JSON.
    var json: JSONValue? { try? JSONDocument(parsing: self.body, limits: JSONLimits(bytes: 8 << 20)).root }
}

/// Nobody answered as the admin API does.
struct UnreachableFailure: Error {
    let reason: String
}

/// Gathers one answer. On its loop.
private final class AnswerReceiver: UpstreamReceiver {
    var continuation: UnsafeContinuation<Result<AdminAnswer, UnreachableFailure>, Never>?
    var call: (any UpstreamCall)?
    private var answer = AdminAnswer()

    func upstreamAnswered(_ head: UpstreamHead) { self.answer.status = head.status }

    func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self.answer.body.count + bytes.count <= AdminClient.mostBytes else { return false }
        self.answer.body.append(contentsOf: bytes)
        return true
    }

    func upstreamEnded(_ failure: HTTPClientFailure?) {
        self.finish(failure.map { .failure(UnreachableFailure(reason: $0.metricLabel)) } ?? .success(self.answer))
    }

    func finish(_ result: Result<AdminAnswer, UnreachableFailure>) {
        self.call = nil
        self.continuation?.resume(returning: result)
        self.continuation = nil
    }
}
