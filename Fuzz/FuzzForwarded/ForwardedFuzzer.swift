import EventLoops
import FuzzDriver
import GatewayTypes
import HTTPCodec

@testable import Gateway

/// Reads the input as the fields of a request that came by a trusted proxy, and checks whose request it is said to be.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzForwarded(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    for name in ["X-Forwarded-For: ", "Forwarded: ", ""] {
        let head = Array("GET / HTTP/1.1\r\nHost: a\r\n\(name)".utf8) + input + Array("\r\n\r\n".utf8)
        guard case .head(let parsed, _) = RequestHeadParser.parse(head.span, limits: HTTPLimits()) else { continue }
        check(parsed)
    }
    return 0
}

private let proxy = PeerAddress(bytes: [10, 0, 0, 1])
private let stranger = PeerAddress(bytes: [203, 0, 113, 9])
private let proxies = ["10.0.0.0/8", "2001:db8:ffff::/48"].compactMap { NetworkPrefix($0) }

private func check(_ head: HTTPRequestHead) {
    // Whoever is not trusted says nothing about itself.
    precondition(ForwardedChain.client(of: head, peer: stranger, trusted: proxies) == stranger)
    precondition(ForwardedChain.client(of: head, peer: proxy, trusted: []) == proxy)
    let client = ForwardedChain.client(of: head, peer: proxy, trusted: proxies)
    precondition(client.bytes.count == 4 || client.bytes.count == 16)
    precondition(PeerAddress(text: Array(client.description.utf8)) == client)
    precondition((1...60).contains(client.callerText.utf8.count))
    // Whoever is said to be the client was named, unless it is the peer.
    let names = head.count(of: .xForwardedFor) + head.count(of: .forwarded)
    precondition(names > 0 || client == proxy)
    // What a client writes to the left of its own address changes nothing.
    guard head.count(of: .xForwardedFor) == 1, head.count(of: .forwarded) == 0 else { return }
    guard let value = head.range(of: .xForwardedFor), client != proxy, !proxies.contains(where: { $0.contains(client) })
    else { return }
    let longer =
        Array("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.1, ".utf8) + head.bytes[value]
        + Array("\r\n\r\n".utf8)
    guard case .head(let other, _) = RequestHeadParser.parse(longer.span, limits: HTTPLimits()) else { return }
    precondition(ForwardedChain.client(of: other, peer: proxy, trusted: proxies) == client)
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzForwarded_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzForwarded)
}
