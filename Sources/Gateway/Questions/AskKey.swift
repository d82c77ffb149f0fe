import GatewayTypes
import HTTPCodec
import JOSE
import Quota

/// What a client's `Idempotency-Key` stands for while its ask runs.
struct AskKey: Sendable {
    let name: KeyName
    let record: KeyRecord
    /// The ask has the key, and has to say how it ended.
    var isHeld = false

    /// Longest key, in bytes.
    static let longest = 255

    /// - Parameters:
    ///   - key: what the client sent, checked.
    ///   - route: of the ask; the same body means something else by another.
    init?(_ key: Span<UInt8>, of owner: QuestionOwner, body: [UInt8], route: WireForm, question: RequestID) {
        var scope: [UInt8] = []
        for part in [Array(owner.tenant.bytes.utf8), Array(owner.subject.bytes.utf8), Self.array(key)] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).littleEndian) { scope.append(contentsOf: $0) }
            scope.append(contentsOf: part)
        }
        // Who reads the store can't guess a request by its hash without the key, which isn't kept either.
        guard let authenticator = MessageAuthenticator(.sha256, secret: scope.span) else { return nil }
        let message = [route.letter] + body
        var digits: [UInt8] = []
        for byte in authenticator.code(for: message.span).prefix(16) { Hexadecimal.append(byte, to: &digits) }
        let digest = Base64URL.encode(SHA256Digest(of: scope.span).bytes.span)
        self.name = KeyName(
            tenant: owner.tenant, digest: ByteString(String(decoding: digest, as: UTF8.self)))
        self.record = KeyRecord(question: question, body: ByteString(String(decoding: digits, as: UTF8.self)))
    }

    private static func array(_ span: Span<UInt8>) -> [UInt8] { span.withUnsafeBufferPointer { Array($0) } }

    /// Reads the header; nil when there is none.
    static func read<Value>(
        _ head: HTTPRequestHead, _ body: (Span<UInt8>) -> Value
    ) throws(AskFailure) -> Value? {
        guard let range = head.range(of: .idempotencyKey) else { return nil }
        let isGood = head.withBytes(range) { key in
            (1...self.longest).contains(key.count) && key.indices.allSatisfy { (0x21...0x7E).contains(key[$0]) }
        }
        guard isGood, head.count(of: .idempotencyKey) == 1 else {
            throw AskFailure(
                .invalidRequest, detail: "Idempotency-Key has to be one to \(self.longest) visible characters of ASCII."
            )
        }
        return head.withBytes(range, body)
    }
}
