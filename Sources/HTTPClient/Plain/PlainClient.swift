import EventLoops
import GatewayTypes
import HTTPCodec

/// Calls over HTTP/1.1 without TLS (RFC 9112). On its loop, all of it.
///
/// One call at a time on a connection, which is kept for the next one to the same peer. An open call holds no buffer:
/// what comes is handed on from the loop's own.
final class PlainClient {
    let loop: EventLoop
    /// Of answers' heads; bodies are the receiver's to bound.
    let limits: HTTPLimits
    private var places: [PlainTarget.Peer: PlainPlace] = [:]
    private var gathered: [UInt8] = []
    private var calls: [ObjectIdentifier: PlainCall] = [:]

    init(loop: EventLoop) {
        self.loop = loop
        var limits = HTTPLimits()
        limits.headBytes = 65536
        limits.fields = 256
        limits.valueBytes = 32768
        limits.authorizationBytes = 32768
        limits.trailerBytes = 65536
        limits.trailerFields = 256
        // Over a whole stream, whose server may sign each chunk.
        limits.chunkExtensionBytes = 1 << 24
        self.limits = limits
    }

    deinit { for call in self.calls.values { call.abandon() } }

    /// Calls in flight.
    var openCalls: Int { self.calls.count }

    /// See `UpstreamClient.start`.
    func start(
        _ endpoint: UpstreamEndpoint, _ target: PlainTarget, body: [UInt8], expectsStream: Bool, deadline: TimeSpan,
        receiver: any UpstreamReceiver
    ) -> PlainCall? {
        guard endpoint.cap.enter() else { return nil }
        let call = PlainCall(
            endpoint, target, target.request(body), readLimit: expectsStream ? 16384 : 65536, client: self,
            receiver: receiver)
        self.calls[ObjectIdentifier(call)] = call
        call.start(deadline: deadline)
        return call
    }

    func place(of peer: PlainTarget.Peer) -> PlainPlace {
        if let place = self.places[peer] { return place }
        // A reload leaves peers behind; a new one is the moment to let them go.
        for (peer, place) in self.places where place.isUnused { self.places[peer] = nil }
        let place = PlainPlace()
        self.places[peer] = place
        return place
    }

    /// Hands on as one what came in one read but in several chunks: to whoever reads, each piece costs the same.
    func gathering(
        _ gather: (inout [UInt8]) -> Void, then deliver: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        // Taken out meanwhile: what is told may lead to another call's bytes.
        var bytes: [UInt8] = []
        swap(&bytes, &self.gathered)
        gather(&bytes)
        let result = bytes.withUnsafeBytes { deliver($0) }
        bytes.removeAll(keepingCapacity: bytes.capacity <= 65536)
        swap(&bytes, &self.gathered)
        return result
    }

    /// A call is over.
    func ended(_ call: PlainCall, _ endpoint: UpstreamEndpoint) {
        guard self.calls.removeValue(forKey: ObjectIdentifier(call)) != nil else { return }
        endpoint.cap.leave()
    }
}
