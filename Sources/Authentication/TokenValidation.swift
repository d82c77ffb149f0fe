internal import GatewayTypes
internal import JOSE
internal import JSON

/// What a good token says.
struct VerifiedToken {
    var principal: Principal
    /// Until when that holds, with leeway.
    var validUntil: WallTime
    /// The scope without which the issuer's tokens may do nothing.
    var requiredScope: ByteString?
    /// Of the keys that verified it.
    var stamp: KeyStamp
}

extension IssuerConfiguration {
    var leeway: TimeSpan { .seconds(Int64(min(max(self.leewaySeconds, 0), 60))) }

    /// RFC 9068 §4: the type is compared without regard to case, and `application/` may be left out.
    func accepts(type: [UInt8]?) -> Bool {
        guard let type else { return self.types.contains(.absent) }
        let prefix = "application/".utf8
        let name =
            type.count > prefix.count && Self.equal(type.prefix(prefix.count), prefix)
            ? type.dropFirst(prefix.count) : type[...]
        if Self.equal(name, "at+jwt".utf8) { return self.types.contains(.accessToken) }
        return Self.equal(name, "jwt".utf8) && self.types.contains(.jwt)
    }

    /// Checks the claims of a token whose signature was verified, and makes a principal of them.
    func judge(_ claims: Claims, stamp: KeyStamp, now: WallTime) throws(AuthenticationFailure) -> VerifiedToken {
        guard try claims.hasAudience(self.audiences, in: self.audienceClaim), claims.meets(self.condition) else {
            throw .wrongAudience
        }
        let (expiry, issuedAt, validUntil) = try self.checkTimes(claims, now: now)
        guard let subject = try claims.text("sub") else { throw .missingClaim }
        if self.reservesGuestNames, SubjectID(subject).isGuest != self.isGuest { throw .invalidClaim }
        let tokenID = try claims.text("jti")
        if self.requiresAccessTokenClaims {
            let clientID = try claims.text("client_id")
            guard clientID != nil, tokenID != nil, issuedAt != nil else { throw .missingClaim }
        }
        guard claims.root["cnf"] == nil else { throw .senderConstrained }
        let principal = Principal(
            tenant: self.tenant, subject: SubjectID(subject),
            plan: self.isGuest ? self.defaultPlan : claims.plan(by: self.planMapping) ?? self.defaultPlan,
            scopes: claims.scopes(), isGuest: self.isGuest, tokenID: tokenID, sessionID: try claims.text("sid"),
            issuedAt: issuedAt, expiresAt: expiry)
        return VerifiedToken(
            principal: principal, validUntil: validUntil, requiredScope: self.requiredScope, stamp: stamp)
    }

    private func checkTimes(
        _ claims: Claims, now: WallTime
    ) throws(AuthenticationFailure) -> (expiry: WallTime, issuedAt: WallTime?, validUntil: WallTime) {
        guard let expiry = try claims.time("exp") else { throw .missingClaim }
        var validUntil = expiry + self.leeway
        guard now < validUntil else { throw .expired }
        if let notBefore = try claims.time("nbf"), now + self.leeway < notBefore { throw .notYetValid }
        let issuedAt = try claims.time("iat")
        if let issuedAt, now + self.leeway < issuedAt { throw .issuedInFuture }
        if let maximumAge = self.maximumAgeSeconds {
            guard let issuedAt else { throw .missingClaim }
            let age = TimeSpan.seconds(Int64(min(max(maximumAge, 0), 1 << 32)))
            validUntil = min(validUntil, issuedAt + age + self.leeway)
            guard now < validUntil else { throw .tooOld }
        }
        return (expiry, issuedAt, validUntil)
    }

    private static func equal(_ bytes: ArraySlice<UInt8>, _ lowercase: String.UTF8View) -> Bool {
        bytes.elementsEqual(lowercase) { byte, expected in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 == expected : byte == expected
        }
    }
}
