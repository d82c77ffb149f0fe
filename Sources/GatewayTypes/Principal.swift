/// A verified subject with its plan and scopes.
package struct Principal: Sendable {
    package var tenant: TenantID
    package var subject: SubjectID
    package var plan: PlanName
    package var scopes: Set<ByteString>
    package var isGuest: Bool
    /// `jti`, when the token has one.
    package var tokenID: ByteString?
    /// `sid`, when the token has one.
    package var sessionID: ByteString?
    package var issuedAt: WallTime?
    /// The token's `exp`; nothing of this value may be used past it and the issuer's leeway.
    package var expiresAt: WallTime

    package init(
        tenant: TenantID, subject: SubjectID, plan: PlanName, scopes: Set<ByteString> = [], isGuest: Bool = false,
        tokenID: ByteString? = nil, sessionID: ByteString? = nil, issuedAt: WallTime? = nil, expiresAt: WallTime
    ) {
        self.tenant = tenant
        self.subject = subject
        self.plan = plan
        self.scopes = scopes
        self.isGuest = isGuest
        self.tokenID = tokenID
        self.sessionID = sessionID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
