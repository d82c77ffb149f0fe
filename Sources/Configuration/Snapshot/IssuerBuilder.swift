import Authentication
import GatewayTypes
import JOSE

/// Turns an issuer's settings into what tokens are judged by; keys are parsed here, once.
struct IssuerBuilder {
    let file: String

    func issuer(
        _ settings: IssuerSettings, of tenant: TenantSettings, problems: inout [ConfigurationProblem]
    ) -> IssuerConfiguration {
        var issuer = IssuerConfiguration(
            issuer: settings.issuer, audiences: settings.audiences, tenant: tenant.id,
            keys: self.keys(of: settings, problems: &problems),
            defaultPlan: settings.isGuest ? tenant.guestPlan ?? tenant.defaultPlan : tenant.defaultPlan)
        if let key = settings.keys.first, case .remote(let remote) = key.source {
            issuer.remoteKeys = self.source(remote, of: settings.issuer)
            issuer.requiresKeys = remote.isRequired
        }
        issuer.audienceClaim = settings.audienceClaim
        issuer.algorithms = Set(settings.algorithms.compactMap { Algorithm(rawValue: $0.rawValue) })
        self.check(issuer, settings, problems: &problems)
        issuer.types = self.types(settings.acceptedTypes)
        issuer.leewaySeconds = Int(settings.leeway.inMilliseconds / 1000)
        issuer.requiresAccessTokenClaims = settings.profile == .rfc9068
        issuer.isGuest = settings.isGuest
        issuer.reservesGuestNames = tenant.issuers.contains(where: \.isGuest)
        // What the library that signs them writes.
        if settings.isGuest { issuer.types.insert(.jwt) }
        if let claim = settings.claim {
            issuer.condition = ClaimCondition(path: Authentication.ClaimPath(claim.path), values: [claim.value])
        }
        if let plan = settings.planClaim {
            let entries = plan.values.sorted { $0.key < $1.key }.map { value, plan in
                PlanMapping.Entry(value: value, plan: plan)
            }
            issuer.planMapping = PlanMapping(path: Authentication.ClaimPath(plan.path), entries: entries)
        }
        return issuer
    }

    /// Notes that no key serves one of the algorithms, and what the keys are.
    private func check(
        _ issuer: IssuerConfiguration, _ settings: IssuerSettings, problems: inout [ConfigurationProblem]
    ) {
        guard let keys = issuer.keys, !keys.isEmpty, !issuer.algorithms.contains(where: keys.serves) else { return }
        let names = Algorithm.allCases.filter(keys.serves).map(\.rawValue)
        var kinds: [String] = []
        for kind in keys.keys.map(self.kind(of:)) where !kinds.contains(kind) { kinds.append(kind) }
        let written = listed(settings.algorithms.map(\.rawValue))
        problems.append(
            ConfigurationProblem(
                file: self.file, position: settings.algorithmsPosition,
                message: "no key of \(quoted(settings.issuer.string)) can be used with \(written): there are only "
                    + kinds.joined(separator: " and ") + " keys",
                advice: "write what the issuer signs with (these keys serve \(listed(names))), or name other keys"))
    }

    private func kind(of key: VerificationKey) -> String {
        switch key.algorithms.first {
        case .es256: "EC P-256"
        case .es384: "EC P-384"
        case .es512: "EC P-521"
        case .edDSA, .ed25519: "Ed25519"
        case .hs256, .hs384, .hs512: "secret"
        default: "RSA"
        }
    }

    /// Who gives out the tokens of a tenant's guests; nil for a tenant that has none.
    func guests(of tenant: TenantSettings, problems: inout [ConfigurationProblem]) -> GuestIssuer? {
        guard let settings = tenant.issuers.first(where: \.isGuest) else { return nil }
        let secrets = settings.keys.compactMap { key -> (secret: Secret, keyID: ByteString?)? in
            guard case .hmac(let secret, let keyID) = key.source else { return nil }
            return (secret.value, keyID)
        }
        let algorithm = settings.algorithms.first.flatMap { Algorithm(rawValue: $0.rawValue) }
        if let first = secrets.first, let last = secrets.last, let algorithm, let audience = settings.audiences.first,
            let signer = try? first.secret.reveal({
                try TokenIssuer(algorithm, key: $0, keyID: first.keyID?.string)
            }),
            let guests = (settings.nameSecret?.value ?? last.secret).reveal({
                GuestIssuer(
                    tenant: tenant.id, issuer: settings.issuer, audience: audience, signer: signer, nameSecret: $0,
                    lifetime: settings.tokenLifetime, sessionsPerMinute: settings.sessionsPerMinute)
            })
        {
            return guests
        }
        problems.append(
            ConfigurationProblem(
                file: self.file, position: settings.position, message: "guests' tokens cannot be signed with the keys",
                advice: "write `algorithms: [HS256]` and `keys: {hmac_secret: {env: NAME}}`"))
        return nil
    }

    private func source(_ settings: RemoteKeySettings, of issuer: ByteString) -> RemoteKeySource {
        let location: RemoteKeySource.Location =
            settings.kind == .jwksURL ? .jwks(url: settings.url) : .discovery(url: settings.url)
        var source = RemoteKeySource(issuer: issuer, location: location)
        source.staleFor = settings.staleFor
        source.cooldown = settings.cooldown
        source.timeout = settings.timeout
        source.certificateFile = settings.certificateFile
        return source
    }

    private func types(_ accepted: [AcceptedTokenType]) -> AcceptedTypes {
        var types: AcceptedTypes = []
        for type in accepted {
            switch type {
            case .accessToken: types.insert(.accessToken)
            case .jwt: types.insert(.jwt)
            case .absent: types.insert(.absent)
            }
        }
        return types
    }

    private func keys(of settings: IssuerSettings, problems: inout [ConfigurationProblem]) -> KeySet? {
        if let key = settings.keys.first, case .remote = key.source { return nil }
        var keys: [VerificationKey] = []
        for key in settings.keys {
            do {
                keys.append(contentsOf: try self.keys(from: key.source))
            } catch {
                problems.append(
                    ConfigurationProblem(
                        file: self.file, position: key.position, message: "the key cannot be used: \(error.reason)",
                        advice: "name a file with a usable key"))
            }
        }
        return KeySet(keys)
    }

    /// What a key source holds cannot be used, in words for the operator.
    private struct Unusable: Error {
        var reason: String
    }

    private func words(for failure: KeySet.Failure) -> String {
        switch failure {
        case .notJSON: "the file is not strict JSON of at most \(KeySet.maximumBytes / 1024) KiB"
        case .notAKeySet: "the file has no list `keys`"
        case .noUsableKey: "the file holds no public key that tokens can be verified with"
        }
    }

    private func keys(from source: IssuerSettings.KeySource) throws(Unusable) -> [VerificationKey] {
        do {
            switch source {
            case .remote: return []
            case .jwks(_, let text): return try KeySet(jwks: text.span).keys
            case .pem(_, let text, let keyID):
                return [try VerificationKey(pem: text.span, keyID: keyID.map { Array($0.utf8) })]
            case .hmac(let secret, let keyID):
                return [
                    try secret.value.reveal { try VerificationKey(secret: $0, keyID: keyID.map { Array($0.utf8) }) }
                ]
            }
        } catch let failure as KeyFailure {
            throw Unusable(reason: failure.explanation)
        } catch let failure as KeySet.Failure {
            throw Unusable(reason: self.words(for: failure))
        } catch {
            throw Unusable(reason: "it cannot be read")
        }
    }
}
