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
        issuer.types = self.types(settings.acceptedTypes)
        issuer.leewaySeconds = Int(settings.leeway.inMilliseconds / 1000)
        issuer.requiresAccessTokenClaims = settings.profile == .rfc9068
        issuer.isGuest = settings.isGuest
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
            throw Unusable(reason: failure.metricLabel)
        } catch {
            throw Unusable(reason: "it cannot be read")
        }
    }
}
