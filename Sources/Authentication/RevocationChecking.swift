package import GatewayTypes

/// Says whether a token that is good in itself has been taken back. Asked at each request, so from memory only.
package protocol RevocationChecking: Sendable {
    /// Whether the token's id, its session, or all tokens of the subject from before some time are revoked.
    func isRevoked(_ principal: Principal) -> Bool
}
