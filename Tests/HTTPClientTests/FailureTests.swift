import GatewayTesting
import GatewayTypes
import Glibc
import Testing

@testable import HTTPClient

/// Bytes of a provider, and the failure they are told as.
struct BadAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let failure: HTTPClientFailure
    let wire: String

    init(_ name: String, _ failure: HTTPClientFailure, _ wire: String) {
        self.testDescription = name
        self.failure = failure
        self.wire = wire
    }
}

@Suite("Calls that fail", .ownThread, .overBothTransports)
struct FailureTests {
    @Test func `Nobody listens`() async throws {
        let port = try TestSocket.freePort()
        try await withUpstream { upstream in
            let endpoint = HTTPClientTests.endpoint("http://127.0.0.1:\(port)/")
            for _ in 0..<3 {
                let told = try await upstream.perform(endpoint)
                #expect(told.ends == [.unreachable] && told.heads.isEmpty)
            }
        }
    }

    @Test func `Nobody accepts`() async throws {
        // A queue of one that is full: the kernel drops what comes next.
        let (listener, port) = try Self.fullListener()
        defer { for number in listener { close(number) } }
        try await withUpstream { upstream in
            let endpoint = HTTPClientTests.endpoint("http://127.0.0.1:\(port)/", connectTimeout: .milliseconds(200))
            let told = try await upstream.perform(endpoint)
            #expect(told.ends == [.connectTimeout])
            let patient = HTTPClientTests.endpoint("http://127.0.0.1:\(port)/")
            let late = try await upstream.perform(patient, deadline: .milliseconds(200))
            #expect(late.ends == [.connectTimeout])
            // The sockets that were given up leave nothing behind for those that get their numbers.
            var providers: [FakeProvider] = []
            for _ in 0..<6 { providers.append(try FakeProvider()) }
            for provider in providers {
                #expect(try await upstream.perform(endpoint, deadline: .milliseconds(30)).ends.count == 1)
                #expect(try await upstream.perform(provider.endpoint()).isWhole)
            }
        }
    }

    private static func fullListener() throws -> ([Int32], UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let numbers = (0..<4).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(numbers[0], raw, length) | listen(numbers[0], 0) | getsockname(numbers[0], raw, &length)
            }
        }
        try #require(status == 0)
        for number in numbers.dropFirst() {
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, length) }
            }
        }
        return (numbers, UInt16(bigEndian: address.sin_port))
    }

    @Test func `No TLS on the other side`() async throws {
        let provider = try RawProvider("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        try await withUpstream { upstream in
            let endpoint = HTTPClientTests.endpoint("https://127.0.0.1:\(provider.port)/")
            let told = try await upstream.perform(endpoint)
            #expect(told.ends == [.tls])
        }
    }

    @Test(arguments: ["gopher://127.0.0.1/", "file:///etc/passwd", "http://", "not a url"])
    func `An address that is none`(url: String) async throws {
        try await withUpstream { upstream in
            let told = try await upstream.perform(HTTPClientTests.endpoint(url))
            #expect(told.ends.count == 1 && told.ends[0] != nil && told.bytes.isEmpty)
        }
    }

    @Test(arguments: [
        BadAnswer("garbage", .broken, "\u{1}\u{2}\u{3}garbage\r\n\r\n"),
        BadAnswer("nothing", .broken, ""),
        BadAnswer("half a head", .broken, "HTTP/1.1 200 OK\r\nContent-Le"),
        BadAnswer("short body", .broken, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
        BadAnswer("no last chunk", .broken, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"),
        BadAnswer("bad chunk", .broken, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n"),
        BadAnswer(
            "no gzip", .coding, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nno zipped"),
        BadAnswer(
            "large head", .headTooLarge,
            "HTTP/1.1 200 OK\r\n"
                + String(repeating: "x-padding: \(String(repeating: "x", count: 1000))\r\n", count: 70)
                + "Content-Length: 0\r\n\r\n"),
        BadAnswer("long line", .headTooLarge, "HTTP/1.1 200 OK\r\nx: \(String(repeating: "x", count: 80_000))\r\n\r\n"),
        BadAnswer(
            "interim answers without end", .headTooLarge,
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 10_000)
                + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ])
    func `An answer that cannot be read ends once, as a failure`(bad: BadAnswer) async throws {
        let provider = try RawProvider(bad.wire)
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint)
            #expect(told.ends == [bad.failure])
        }
    }

    @Test func `A provider that resets in the middle`() async throws {
        let provider = try FakeProvider { _, _ in .events([.send("data: 1\n\n"), .hold(milliseconds: 50), .reset]) }
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint(), stream: true)
            #expect(told.ends == [.broken] && told.heads.count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `The deadline holds before the head and in the body, and closes the connection`(inBody: Bool) async throws {
        let provider = try FakeProvider { _, _ in
            inBody ? .events([.send("data: 1\n\n"), .hold(milliseconds: 60_000)]) : .body("{}", delay: 60_000)
        }
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint(), stream: true, deadline: .seconds(1))
            #expect(told.ends == [.timeout])
            #expect(told.heads.count == (inBody ? 1 : 0))
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }

    @Test func `A body that unpacks to far more than it is stops when its reader has enough`() async throws {
        // Half a gigabyte in half a megabyte.
        let provider = try FakeProvider { _, _ in
            .events([.send(Self.bombStart), .flood([0], times: 500_000)], headers: [("Content-Encoding", "gzip")])
        }
        try await withUpstream { upstream in
            let call = try await upstream.start(provider.endpoint(), keeps: false) { test in
                test.onBytes = { $0.told.count < 100_000 }
            }
            #expect(call.ends())
            #expect(call.told.count < 200_000)
            #expect(call.told.ends.first == .cancelled)
        }
    }

    /// A gzip head and the begin of a deflate block in which two bits of zero stand for 258 bytes.
    private static let bombStart: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xFF, 0xEC, 0xC1, 0x01,
        0x01, 0x00, 0x00, 0x00, 0x80, 0x90, 0xFE, 0xAF, 0xEE, 0x08, 0x0A, 0x00, 0x00,
    ]

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("29", 29), ("30", 30), ("31", 30), ("99999999999999999999", 30), ("2.5", 3),
            ("0.001", 1),
            ("-5", nil), ("+5", nil), ("", nil), ("soon", nil), ("5 seconds", nil), ("0x10", nil), ("1e1", nil),
            ("1e999", nil),
            ("5,6", nil), (".5", nil), ("5.", 5), ("nan", nil), ("inf", nil), ("1.2.3", nil), ("٣", nil),
            ("Sun, 14 Jan 2029 08:00:10 GMT", 10), ("Sun, 14 Jan 2029 08:00:00 GMT", 0),
            ("Sun, 14 Jan 2029 07:00:00 GMT", 0), ("Sun, 14 Jan 2029 09:00:00 GMT", 30),
            ("Sunday, 14-Jan-29 08:00:10 GMT", 10), ("Sun Jan 14 08:00:10 2029", 10),
            ("Wed, 21 Oct 1999 07:28:00 GMT", 0),
        ] as [(String, Int?)])
    func `A wait is read as seconds or a date, and junk as none`(value: String, seconds: Int?) {
        #expect(RetryAfter.seconds(value, now: WallTime(seconds: 1_863_072_000)) == seconds)
    }

    @Test(arguments: [("7", 7), ("  7\t", 7), ("junk", nil)] as [(String, Int?)])
    func `A wait stands in the head of the answer`(value: String, seconds: Int?) async throws {
        let provider = try FakeProvider { _, _ in .body("{}", status: 429, headers: [("reTRY-after", value)]) }
        try await withUpstream { upstream in
            let told = try await upstream.perform(provider.endpoint())
            #expect(told.heads.first?.status == 429 && told.heads.first?.retryAfterSeconds == seconds)
        }
    }
}
