package import EventLoops
package import GatewayTypes

/// Calls to providers from one loop. On its loop, all of it.
///
/// `http` addresses are those of model servers nearby, where each microsecond and kilobyte of an open stream is ours:
/// HTTP/1.1 is spoken with them over the loop's own sockets. All else is libcurl's.
package final class UpstreamClient {
    private let plain: PlainClient
    private let curl: CurlClient

    /// Nil when libcurl can't be set up.
    package init?(loop: EventLoop) {
        guard let curl = CurlClient(loop: loop) else { return nil }
        self.curl = curl
        self.plain = PlainClient(loop: loop)
    }

    /// Calls in flight.
    package var openCalls: Int { self.curl.openCalls + self.plain.openCalls }

    /// Starts a call. The receiver is held until the call ends and is never called from inside this function.
    ///
    /// - Parameters:
    ///   - expectsStream: whether the answer comes in many small pieces.
    ///   - deadline: for the whole call.
    /// - Returns: nil when as many calls are open as the endpoint's cap lets.
    package func start(
        _ endpoint: UpstreamEndpoint, body: [UInt8], expectsStream: Bool, deadline: TimeSpan,
        receiver: any UpstreamReceiver
    ) -> (any UpstreamCall)? {
        guard let target = endpoint.plain else {
            return self.curl.start(
                endpoint, body: body, expectsStream: expectsStream, deadline: deadline, receiver: receiver)
        }
        return self.plain.start(
            endpoint, target, body: body, expectsStream: expectsStream, deadline: deadline, receiver: receiver)
    }
}
