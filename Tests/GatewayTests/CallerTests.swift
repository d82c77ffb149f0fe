import EventLoops
import GatewayTypes
import HTTPCodec
import Testing

@testable import Gateway

/// Whose address counts, and how long one that tries tokens has to wait.
@Suite struct CallerTests {
    private static let proxies = ["10.0.0.0/8", "2001:db8:ffff::/48"].compactMap { NetworkPrefix($0) }

    private func client(_ fields: String, peer: String = "10.0.0.1", trusted: [NetworkPrefix] = proxies) throws
        -> String
    {
        let head = Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
        guard case .head(let parsed, _) = RequestHeadParser.parse(head.span, limits: HTTPLimits()) else {
            throw NotAHead()
        }
        let address = try #require(PeerAddress(text: Array(peer.utf8)))
        return ForwardedChain.client(of: parsed, peer: address, trusted: trusted).description
    }

    private struct NotAHead: Error {}

    @Test(arguments: [
        ("", "10.0.0.1"),
        ("X-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7"),
        // What stands left of the first stranger is the stranger's own claim.
        ("X-Forwarded-For: 203.0.113.9, 192.0.2.7\r\n", "192.0.2.7"),
        ("X-Forwarded-For: 192.0.2.7, 10.9.9.9 ,10.0.0.2\r\n", "192.0.2.7"),
        ("X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7"),
        ("X-Forwarded-For: 10.1.1.1, 10.2.2.2\r\n", "10.1.1.1"),
        ("X-Forwarded-For: 192.0.2.7:4711\r\n", "192.0.2.7"),
        ("X-Forwarded-For: [2001:db8::1]:4711\r\n", "2001:db8:0:0:0:0:0:1"),
        ("X-Forwarded-For: 2001:db8::1\r\n", "2001:db8:0:0:0:0:0:1"),
        ("X-Forwarded-For: ::ffff:192.0.2.7\r\n", "192.0.2.7"),
        // What cannot be read ends the walk at the proxy that passed it on.
        ("X-Forwarded-For: 192.0.2.7, unknown\r\n", "10.0.0.1"),
        ("X-Forwarded-For: 192.0.2.7, nonsense, 10.3.3.3\r\n", "10.3.3.3"),
        ("X-Forwarded-For: 192.0.2.07\r\n", "10.0.0.1"),
        ("X-Forwarded-For: 192.0.2.7:\r\n", "10.0.0.1"),
        ("X-Forwarded-For: \r\n", "10.0.0.1"),
        ("Forwarded: for=192.0.2.7;proto=https;by=10.0.0.1\r\n", "192.0.2.7"),
        ("Forwarded: proto=https; For=\"[2001:db8::1]:4711\"\r\n", "2001:db8:0:0:0:0:0:1"),
        ("Forwarded: for=203.0.113.9, for=192.0.2.7\r\n", "192.0.2.7"),
        ("Forwarded: for=192.0.2.7, for=_hidden\r\n", "10.0.0.1"),
        ("Forwarded: for=192.0.2.7;for=192.0.2.8\r\n", "10.0.0.1"),
        ("Forwarded: for=\"192.0.2.7, for=203.0.113.9\"\r\n", "10.0.0.1"),
        // One of the two the proxy did not write.
        ("X-Forwarded-For: 192.0.2.7\r\nForwarded: for=203.0.113.9\r\n", "10.0.0.1"),
        ("X-Forwarded-For: 192.0.2.7\r\nForwarded: for=192.0.2.7\r\n", "192.0.2.7"),
    ])
    func theRightmostStrangerBehindTrustedProxiesIsTheClient(fields: String, expected: String) throws {
        #expect(try self.client(fields) == expected)
    }

    @Test func whateverAClientWritesIsReadOrLeft() throws {
        var generator = SeededNumbers(seed: 20_260_321)
        let pieces = [
            "192.0.2.7", "10.0.0.9", "[2001:db8::1]", "[", "]", ":", ":1", ",", ", ", ";", "=", "\"", "for=", "For=",
            "by=",
            "unknown", "_x", "::", "%", "256", "\t", "\\", "2001:db8:ffff::2",
        ]
        for _ in 0..<5000 {
            var value = "x"
            for _ in 0..<Int(generator.next() % 12) { value += pieces[Int(generator.next() % UInt64(pieces.count))] }
            for name in ["X-Forwarded-For", "Forwarded"] {
                let found = try self.client("\(name): \(value.dropFirst())\r\n")
                #expect(PeerAddress(text: Array(found.utf8)) != nil, "\(value)")
            }
        }
    }

    @Test func nobodyElseIsBelieved() throws {
        let claims = "X-Forwarded-For: 192.0.2.7\r\nForwarded: for=192.0.2.7\r\n"
        #expect(try self.client(claims, peer: "11.0.0.1") == "11.0.0.1")
        #expect(try self.client(claims, trusted: []) == "10.0.0.1")
        #expect(try self.client(claims, peer: "2001:db8:ffff:1::1") == "192.0.2.7")
    }

    @Test func rangesHoldWhatTheySay() throws {
        let range = try #require(NetworkPrefix("172.16.0.0/12"))
        let cases = [("172.16.0.0", true), ("172.31.255.255", true), ("172.32.0.0", false), ("::ac10:0", false)]
        for (text, expected) in cases {
            #expect(range.contains(try #require(PeerAddress(text: Array(text.utf8)))) == expected, "\(text)")
        }
        #expect(NetworkPrefix("192.0.2.1")?.description == "192.0.2.1/32")
        #expect(NetworkPrefix("0.0.0.0/0")?.contains(PeerAddress(bytes: [9, 9, 9, 9])) == true)
        for bad in [
            "", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/08x", "10.0/8", "host", "::/129",
        ] {
            #expect(NetworkPrefix(bad) == nil, "\(bad)")
        }
    }

    @Test func aNetworkOfIPv6IsOneCaller() throws {
        func text(_ address: String) throws -> String {
            try #require(PeerAddress(text: Array(address.utf8))).callerText.string
        }
        #expect(try text("2001:db8:1:2::5") == text("2001:db8:1:2:ffff::6"))
        #expect(try text("2001:db8:1:2::5") != text("2001:db8:1:3::5"))
        #expect(try text("192.0.2.1") == "192.0.2.1")
    }

    @Test func soManyFailuresAMinuteAndThenOneByOne() throws {
        let table = FailedCallers()
        let (one, other) = (PeerAddress(bytes: [192, 0, 2, 1]), PeerAddress(bytes: [192, 0, 2, 2]))
        var now = MonotonicTime(nanoseconds: 5_000_000_000)
        for _ in 0..<6 {
            #expect(table.wait(of: one, limit: 6, at: now) == nil)
            table.failed(one, limit: 6, at: now)
        }
        let wait = try #require(table.wait(of: one, limit: 6, at: now))
        #expect(wait == .seconds(10))
        #expect(table.wait(of: other, limit: 6, at: now) == nil)
        #expect(table.wait(of: one, limit: 0, at: now) == nil)
        now = now + wait
        #expect(table.wait(of: one, limit: 6, at: now) == nil)
        table.failed(one, limit: 6, at: now)
        #expect(table.wait(of: one, limit: 6, at: now) != nil)
        #expect(table.wait(of: one, limit: 6, at: now + .seconds(61)) == nil)
    }

    @Test func theTableOfFailuresIsBounded() {
        let table = FailedCallers(capacity: 100)
        let now = MonotonicTime(nanoseconds: 0)
        for number in 0..<10_000 {
            table.failed(PeerAddress(bytes: [10, 0, UInt8(number / 256), UInt8(number % 256)]), limit: 1, at: now)
        }
        #expect(table.count <= 200)
    }
}
