import GatewayTesting
import GatewayTypes
import Testing

@testable import TLS

@Suite("A client's side of TLS", .ownThread)
struct SessionTests {
    static let certificates = Result { try RedisCertificates() }

    static func trusting() throws -> TLSClientSettings {
        TLSClientSettings(authorityFile: try Self.certificates.get().authority)
    }

    /// Why no connection comes about.
    static func failure(_ settings: TLSClientSettings, host: String = "localhost", port: UInt16) throws -> TLSFailure? {
        do {
            let line = try TLSLine(settings, host: host, port: port)
            try line.establish()
            // In TLS 1.3 the server may still refuse what we showed.
            _ = try line.exchange("abc\n")
            return nil
        } catch let failure as TLSFailure {
            return failure
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"], [1, 7, Int.max])
    func wordsGoBothWaysInAnyPieces(version: String, pieces: Int) throws {
        let server = try ReversingServer(Self.certificates.get().good, [version])
        let line = try TLSLine(Self.trusting(), port: server.port)
        try line.establish(pieces: pieces)
        #expect(try line.exchange("abc\n", pieces: pieces) == "cba\n")
        #expect(try line.exchange("xyzw\n", pieces: pieces) == "wzyx\n")
        #expect(!line.session.isEnded)
    }

    @Test func longWordsTakeManyRecords() throws {
        let server = try ReversingServer(Self.certificates.get().good)
        let line = try TLSLine(Self.trusting(), port: server.port)
        try line.establish()
        // The server reverses what it reads at once, so only the bytes as such are looked at.
        let text = (0..<3000).map { "\($0 % 10)" }.joined()
        #expect(try line.exchange(text + "\n").utf8.sorted() == (text + "\n").utf8.sorted())
    }

    @Test func versionsThatAreTooOldAreRefused() throws {
        let server = try ReversingServer(
            Self.certificates.get().good, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        #expect(try Self.failure(Self.trusting(), port: server.port) == .handshakeFailed)
    }

    @Test func aCertificateThatIsPastItsTimeIsRefused() throws {
        let server = try ReversingServer(Self.certificates.get().expired)
        #expect(try Self.failure(Self.trusting(), port: server.port) == .expiredCertificate)
    }

    @Test func aCertificateForAnotherHostIsRefused() throws {
        let server = try ReversingServer(Self.certificates.get().wrongHost)
        #expect(try Self.failure(Self.trusting(), host: "localhost", port: server.port) == .wrongHost)
        #expect(try Self.failure(Self.trusting(), host: "127.0.0.1", port: server.port) == .wrongHost)
        #expect(try Self.failure(Self.trusting(), host: "192.0.2.7", port: server.port) == nil)
        var settings = try Self.trusting()
        settings.serverName = "elsewhere.example"
        #expect(try Self.failure(settings, host: "localhost", port: server.port) == nil)
        settings.serverName = "elsewhere.example.org"
        #expect(try Self.failure(settings, host: "elsewhere.example", port: server.port) == .wrongHost)
    }

    @Test func anAuthorityThatNobodyKnowsIsRefused() throws {
        let server = try ReversingServer(Self.certificates.get().stranger)
        #expect(try Self.failure(Self.trusting(), port: server.port) == .unknownAuthority)
        #expect(try Self.failure(TLSClientSettings(), port: server.port) == .unknownAuthority)
        let known = TLSClientSettings(authorityFile: try Self.certificates.get().stranger.authority)
        #expect(try Self.failure(known, port: server.port) == nil)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aServerMayWantACertificateOfOurs(version: String) throws {
        let certificates = try Self.certificates.get()
        let server = try ReversingServer(
            certificates.good, ["-Verify", "3", "-verify_return_error", "-CAfile", certificates.authority, version])
        var settings = try Self.trusting()
        #expect(try Self.failure(settings, port: server.port) == .handshakeFailed)
        settings.certificateFile = certificates.client.certificate
        settings.keyFile = certificates.client.key
        #expect(try Self.failure(settings, port: server.port) == nil)
    }

    @Test func filesThatAreOfNoUseAreSaidToBeSo() throws {
        let certificates = try Self.certificates.get()
        let good = certificates.good
        let cases = [
            TLSClientSettings(authorityFile: "/nonexistent"), TLSClientSettings(authorityFile: good.key),
            TLSClientSettings(certificateFile: "/nonexistent", keyFile: good.key),
            TLSClientSettings(certificateFile: good.certificate, keyFile: "/nonexistent"),
            TLSClientSettings(certificateFile: good.certificate),
            TLSClientSettings(certificateFile: good.certificate, keyFile: certificates.client.key),
        ]
        for settings in cases { #expect(throws: TLSFailure.unusableFile) { try TLSClientContext(settings) } }
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "\0\0\0\0\0\0\0\0", "\u{16}\u{3}\u{3}\0\u{4}aaaa"])
    func whatIsNoTLSIsRefused(text: String) throws {
        let session = try TLSClientSession(try TLSClientContext(Self.trusting()), host: "localhost")
        try session.start()
        var delivered = 0
        #expect(throws: TLSFailure.handshakeFailed) {
            var text = text
            try text.withUTF8 { try session.receive(UnsafeRawBufferPointer($0)) { delivered += $0.count } }
        }
        #expect(delivered == 0)
        #expect(!session.isEstablished)
    }

    @Test func aRecordThatWasChangedOnItsWayIsNotDelivered() throws {
        let server = try ReversingServer(Self.certificates.get().good)
        let line = try TLSLine(Self.trusting(), port: server.port)
        try line.establish()
        #expect(try line.exchange("abc\n") == "cba\n")
        // A record of application data whose seal cannot fit.
        let forged: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 9, count: 32)
        var delivered = 0
        #expect(throws: TLSFailure.broken) {
            try forged.withUnsafeBytes { try line.session.receive($0) { delivered += $0.count } }
        }
        #expect(delivered == 0)
    }

    @Test func namesOfFailuresAreBoundedAndDiffer() {
        #expect(Set(TLSFailure.allCases.map(\.metricLabel)).count == TLSFailure.allCases.count)
    }

    /// Vectors of FIPS 180.
    @Test(arguments: [
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"), ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ])
    func scriptsAreNamedByTheirDigest(text: String, digest: String) {
        let digits = scriptDigest(of: Array(text.utf8)).map { byte in
            let hex = String(byte, radix: 16)
            return hex.utf8.count == 1 ? "0\(hex)" : hex
        }
        #expect(digits.joined() == digest)
    }
}
