package import GatewayTypes
package import JOSE
internal import JSON
internal import Synchronization

/// Says who is asking, from the access token and nothing else.
///
/// Usable from every event loop at the same time; each has its own `TokenCache`. All but the remote keys is frozen.
package final class Authenticator: Sendable {
    private let issuers: [IssuerConfiguration]
    private let keys: [KeySlot]
    private let places: [ByteString: [Int]]
    private let remoteSets: [RemoteKeySet?]
    private let revocations: (any RevocationChecking)?
    private let generation = Authenticator.generations.wrappingAdd(1, ordering: .relaxed).newValue

    /// Throws when a token could belong to two tenants, or an entry could accept none or too many.
    ///
    /// - Parameter fetcher: gives the issuers their remote keys; without one they never have any.
    package init(
        _ configuration: AuthenticationConfiguration, fetcher: KeySetFetcher? = nil,
        revocations: (any RevocationChecking)? = nil
    ) throws(ConfigurationFailure) {
        try configuration.check()
        self.issuers = configuration.issuers
        self.remoteSets = configuration.issuers.map { issuer in
            let set = issuer.remoteKeys.flatMap { fetcher?.set(for: $0) }
            set?.use(for: issuer.algorithms)
            return set
        }
        self.keys = zip(configuration.issuers, self.remoteSets).map { $1?.slot ?? KeySlot($0.keys) }
        self.places = Dictionary(grouping: configuration.issuers.indices) { configuration.issuers[$0].issuer }
        self.revocations = revocations
    }

    /// Puts a newly fetched set in the place of an issuer's old one and forgets the tokens that the old one verified.
    ///
    /// A set that holds what is there already, or that serves none of the issuer's algorithms, changes nothing.
    ///
    /// - Parameter issuer: the place in the configuration's `issuers`.
    /// - Returns: whether the set was taken.
    @discardableResult
    package func replaceKeys(ofIssuer issuer: Int, with keys: KeySet) -> Bool {
        guard self.keys.indices.contains(issuer) else { return false }
        let algorithms = self.issuers[issuer].algorithms
        return algorithms.contains(where: keys.serves) && self.keys[issuer].replace(keys)
    }

    /// Whether every issuer that must have keys has them.
    package var isReady: Bool { self.issuersWithoutKeys.isEmpty }

    /// Issuers that must have keys and have none, so that their tokens are answered with 503; each once.
    package var issuersWithoutKeys: [ByteString] {
        let missing = zip(self.issuers, self.keys).filter { $0.requiresKeys && $1.current == nil }
        return Set(missing.map(\.0.issuer)).sorted()
    }

    /// Waits, bounded, for keys that may turn a failure into success; asked after `authenticate` has thrown.
    ///
    /// - Returns: whether to authenticate once more. False at once for failures that no new key can heal, and while an
    ///   issuer's keys were fetched too lately to be fetched again.
    package func awaitKeys(after failure: AuthenticationFailure) async -> Bool {
        switch failure {
        case .unknownKey(let issuer), .keysUnavailable(let issuer):
            guard self.remoteSets.indices.contains(issuer), let set = self.remoteSets[issuer] else { return false }
            return await set.awaitFetch()
        default: return false
        }
    }

    /// Finds the principal of a request.
    ///
    /// - Parameters:
    ///   - authorization: the value of the first `Authorization` field, trimmed; empty when there is none.
    ///   - fieldCount: how many `Authorization` fields the request has.
    ///   - queryHasToken: whether the query names an `access_token`; one there is never accepted.
    ///   - checksRevocations: false where a revoked token is still to be known.
    ///   - mayVerify: asked before work is put into a token that was not verified before.
    package func authenticate(
        authorization: Span<UInt8>, fieldCount: Int, queryHasToken: Bool, cache: TokenCache, now: WallTime,
        checksRevocations: Bool = true, mayVerify: () -> Bool = { true }
    ) throws(AuthenticationFailure) -> Principal {
        guard fieldCount > 0 else { throw .noCredentials }
        guard fieldCount == 1, !queryHasToken else { throw .severalCredentials }
        let range = try BearerToken.range(in: authorization)
        guard range.count <= CompactJWS.Limits().token else { throw .token(.tooLong) }
        let token = authorization.extracting(range)
        cache.enter(self.generation)
        let digest = cache.digest(of: token)
        if let principal = cache.find(digest, now: now, keys: self.keys) {
            if checksRevocations, let revocations, revocations.isRevoked(principal) { throw .revoked }
            return principal
        }
        guard mayVerify() else { throw .tooManyFailures }
        try BearerToken.check(token)
        let verified = try self.verify(token, now: now)
        let principal = verified.principal
        if checksRevocations, let revocations, revocations.isRevoked(principal) { throw .revoked }
        if let scope = verified.requiredScope, !principal.scopes.contains(scope) { throw .insufficientScope(scope) }
        cache.insert(
            principal, for: digest, validUntil: verified.validUntil, stamp: verified.stamp, generation: self.generation)
        return principal
    }

    /// Verifies a token from its outer form to its last claim; each step is cheaper than the one after it.
    private func verify(_ token: Span<UInt8>, now: WallTime) throws(AuthenticationFailure) -> VerifiedToken {
        let parsed = try Self.wrap { () throws(TokenFailure) in try CompactJWS(parsing: token) }
        let header = try Self.wrap { () throws(TokenFailure) in try JWSHeader(parsing: parsed.header.span) }
        let claims = try Claims(parsing: parsed.payload.span)
        let place = try self.place(for: claims)
        let issuer = self.issuers[place]
        guard issuer.algorithms.contains(header.algorithm) else { throw .token(.algorithmNotAllowed) }
        guard issuer.accepts(type: header.type) else { throw .wrongType }
        // Read before the keys, so that a change in between makes the stamp an old one.
        let stamp = KeyStamp(place: place, generation: self.keys[place].generation)
        let verifier = try self.verifier(for: header, ofIssuer: place)
        let signed = token.extracting(0..<parsed.signedByteCount)
        guard verifier.verify(signed, signature: parsed.signature.span) else { throw .token(.badSignature) }
        return try issuer.judge(claims, stamp: stamp, now: now)
    }

    /// The entry that a token claims to be for. Nothing is believed by this: the entry's keys decide afterwards.
    private func place(for claims: Claims) throws(AuthenticationFailure) -> Int {
        guard let named = claims.root["iss"]?.string, let places = self.places[ByteString(named)] else {
            throw .unknownIssuer
        }
        if places.count == 1 { return places[0] }
        var found: Int?
        for place in places {
            let issuer = self.issuers[place]
            guard try claims.hasAudience(issuer.audiences, in: issuer.audienceClaim),
                claims.meets(issuer.condition)
            else { continue }
            if let found, self.issuers[found].tenant != issuer.tenant { throw .ambiguousTenant }
            found = found ?? place
        }
        guard let found else { throw .wrongAudience }
        return found
    }

    private func verifier(
        for header: JWSHeader, ofIssuer place: Int
    ) throws(AuthenticationFailure) -> SignatureVerifier {
        guard let keys = self.keys[place].current else { throw .keysUnavailable(issuer: place) }
        do throws(TokenFailure) {
            return try keys.verifier(keyID: header.keyID, algorithm: header.algorithm)
        } catch { throw error == .unknownKey && header.keyID != nil ? .unknownKey(issuer: place) : .token(error) }
    }

    private static func wrap<Value>(
        _ body: () throws(TokenFailure) -> Value
    ) throws(AuthenticationFailure) -> Value {
        do throws(TokenFailure) { return try body() } catch { throw .token(error) }
    }

    /// No two authenticators of a process share a generation, so that one cache can outlive a reload.
    private static let generations = Atomic<UInt64>(0)
}
