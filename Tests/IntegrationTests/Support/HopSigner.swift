import JOSE

/// Signs what one instance asks of another, by its own reading of what is documented: a second opinion of the
/// gateway's, and a forger where a test wants one.
struct HopSigner: Sendable {
    var secret: [UInt8]
    var method = "GET"
    var target: String
    var tenant: String
    var subject: String
    var lastEvent = ""
    var language = "en"
    var time: Int
    var nonce: String

    init(secret: [UInt8], target: String, tenant: String, subject: String, time: Int) {
        self.secret = secret
        self.target = target
        self.tenant = tenant
        self.subject = subject
        self.time = time
        self.nonce = Self.freshNonce()
    }

    /// 32 hexadecimal digits that nobody has used.
    static func freshNonce() -> String {
        (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    var signature: [UInt8] {
        let parts = [
            "askgate hop 1", self.method, self.target, self.tenant, self.subject, self.lastEvent, self.language,
            String(self.time), self.nonce,
        ]
        var message: [UInt8] = []
        for part in parts {
            let count = part.utf8.count
            message += [UInt8(count & 255), UInt8(count >> 8 & 255), UInt8(count >> 16 & 255), UInt8(count >> 24)]
            message += Array(part.utf8)
        }
        return MessageAuthenticator(.sha256, secret: self.secret.span)?.code(for: message.span) ?? []
    }

    /// The fields of the request.
    var headers: [(name: String, value: String)] {
        var headers = [
            ("askgate-tenant", Self.encoded(Array(self.tenant.utf8))),
            ("askgate-subject", Self.encoded(Array(self.subject.utf8))), ("askgate-time", String(self.time)),
            ("askgate-nonce", self.nonce), ("askgate-signature", Self.encoded(self.signature)),
            ("accept-language", self.language),
        ]
        if !self.lastEvent.isEmpty { headers.append(("last-event-id", self.lastEvent)) }
        return headers
    }

    static func encoded(_ bytes: [UInt8]) -> String {
        String(decoding: Base64URL.encode(bytes.span), as: UTF8.self)
    }
}
