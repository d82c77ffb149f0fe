/// The calls of one endpoint from one loop: how many are open, and handles that are ready for the next. On the loop.
final class EndpointPool {
    private static let idleHandles = 64
    /// Kept alive, since the pool is found by the endpoint's identity.
    private(set) var endpoint: UpstreamEndpoint
    var openCalls = 0
    private var whole: [CurlHandle] = []
    private var streams: [CurlHandle] = []

    init(_ endpoint: UpstreamEndpoint) { self.endpoint = endpoint }

    /// Whether no configuration in use names the endpoint any more and no call is open.
    func isAbandoned() -> Bool { self.openCalls == 0 && isKnownUniquelyReferenced(&self.endpoint) }

    func take(expectsStream: Bool) -> CurlHandle? { expectsStream ? self.streams.popLast() : self.whole.popLast() }

    func give(_ handle: CurlHandle, expectsStream: Bool) {
        if expectsStream {
            if self.streams.count < Self.idleHandles { self.streams.append(handle) }
        } else {
            if self.whole.count < Self.idleHandles { self.whole.append(handle) }
        }
    }
}
