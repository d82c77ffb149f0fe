package import EventLoops
import GatewayTypes
import HTTPClient
import HTTPCodec
package import Quota

/// Calls of one loop to other instances. On its loop, all of it.
package final class HopClient {
    let directory: InstanceDirectory
    private let client: UpstreamClient
    private let cap = CallCap(4096)

    static let connectTimeout = TimeSpan.seconds(2)
    /// Far above what any answer takes; silence ends a hop much earlier.
    private static let longest = TimeSpan.seconds(86_400)

    /// - Parameter book: of the store that the instances share.
    /// - Returns: nil when the HTTP client can't be set up.
    package init?(loop: EventLoop, book: any InstanceBook) {
        guard let client = UpstreamClient(loop: loop) else { return nil }
        self.client = client
        self.directory = InstanceDirectory(book)
    }

    /// Starts a hop; nil when as many are open as may be.
    ///
    /// - Parameter address: host and port, from the store.
    func start(
        _ request: HopRequest, at address: ByteString, keys: HopKeys, receiver: any UpstreamReceiver
    ) -> (any UpstreamCall)? {
        let target = String(decoding: request.command.target, as: UTF8.self)
        // An endpoint is meant for many calls; every hop bears another signature. Connections are shared all the same.
        let endpoint = UpstreamEndpoint(
            url: "http://\(address.string)\(target)", headers: request.fields(signature: keys.sign(request)),
            connectTimeout: Self.connectTimeout, cap: self.cap, isGet: true, wantedFields: HopError.fields,
            method: request.command.method.rawValue)
        return self.client.start(
            endpoint, body: [], expectsStream: true, deadline: Self.longest, receiver: receiver)
    }

    /// Whether the text is a host and a port and nothing else, so that no address of the store leads a hop astray.
    static func isAddress(_ address: ByteString) -> Bool {
        address.utf8.count <= 262 && address.utf8.contains(0x3A)
            && address.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x3A, 0x41...0x5B, 0x5D, 0x61...0x7A, 0x2D, 0x2E: true
                default: false
                }
            }
    }
}
