package import GatewayTypes
package import JOSE
internal import JSON

/// Gives out the tokens of one tenant's guests; the tenant's issuer of guests accepts them.
package final class GuestIssuer: Sendable {
    package let tenant: TenantID
    /// How long a token is good.
    package let lifetime: TimeSpan
    /// Tokens that one network address may get in a minute.
    package let sessionsPerMinute: Int
    private let issuer: ByteString
    private let audience: ByteString
    private let signer: TokenIssuer
    private let names: MessageAuthenticator

    /// Nil when the secret is empty.
    ///
    /// - Parameters:
    ///   - signer: the newest key; older ones still verify.
    ///   - nameSecret: makes an installation's name; guests are others when it changes.
    package init?(
        tenant: TenantID, issuer: ByteString, audience: ByteString, signer: TokenIssuer, nameSecret: [UInt8],
        lifetime: TimeSpan, sessionsPerMinute: Int
    ) {
        guard let names = MessageAuthenticator(.sha256, secret: nameSecret.span) else { return nil }
        self.tenant = tenant
        self.issuer = issuer
        self.audience = audience
        self.signer = signer
        self.names = names
        self.lifetime = lifetime
        self.sessionsPerMinute = sessionsPerMinute
    }

    /// The guest of an installation: the same at every instance, and nobody can tell one from the other or choose it.
    package func subject(of installation: Span<UInt8>) -> SubjectID {
        var message = Array("guest\n\(self.tenant.string)\n".utf8)
        installation.withUnsafeBufferPointer { message.append(contentsOf: $0) }
        let code = self.names.code(for: message.span)
        return SubjectID(SubjectID.guestPrefix.string + String(decoding: Base64URL.encode(code.span), as: UTF8.self))
    }

    /// A new token of a guest.
    ///
    /// - Parameter earliest: the `iat` from which on tokens of this guest are good; nil for any.
    package func issue(
        to guest: SubjectID, tokenID: RequestID, now: WallTime, earliest: WallTime?
    ) throws(TokenIssuer.Failure) -> (token: [UInt8], expiresAt: WallTime) {
        // Whole seconds: rounded up where a token of the same second might be an old one.
        let bound = earliest.map { $0.microseconds % 1_000_000 == 0 ? $0.seconds : $0.seconds + 1 } ?? now.seconds
        let issuedAt = max(now.seconds, bound)
        let expiry = WallTime(seconds: issuedAt) + self.lifetime
        var json = JSONWriter()
        json.beginObject()
        for (name, text) in [
            ("iss", self.issuer.string), ("aud", self.audience.string), ("sub", guest.string),
            ("client_id", "guest"), ("jti", tokenID.description),
        ] as [(StaticString, String)] {
            json.name(name)
            json.string(text)
        }
        json.name("iat")
        json.integer(Int(issuedAt))
        json.name("exp")
        json.integer(Int(expiry.seconds))
        json.endObject()
        return (try self.signer.issue(claims: json.bytes), expiry)
    }
}
