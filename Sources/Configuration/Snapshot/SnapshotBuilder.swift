import Asking
package import Authentication
package import Gateway
package import GatewayTypes
package import Observability
import Quota
import Routing

/// Turns a checked document into what requests run on: keys parsed, prompts assembled, calendars laid out.
package struct SnapshotBuilder {
    /// The file, for problems that only show here.
    let file: String
    let labels: LabelTable
    /// Days are laid out from here on.
    let now: WallTime
    /// Nil where nothing is to be fetched.
    let fetcher: KeySetFetcher?

    /// Nil where nobody's tokens are asked about.
    let revocations: (any RevocationChecking)?

    /// - Parameters:
    ///   - labels: the process's; a reload goes on with the same.
    ///   - fetcher: the process's, which gives issuers their remote keys; nil for a mere check.
    package init(
        file: String, labels: LabelTable, now: WallTime, fetcher: KeySetFetcher? = nil,
        revocations: (any RevocationChecking)? = nil
    ) {
        self.revocations = revocations
        self.fetcher = fetcher
        self.file = file
        self.labels = labels
        self.now = now
    }

    package func snapshot(
        of document: ConfigurationDocument, generation: Int
    ) throws(ConfigurationFailure) -> GatewaySnapshot {
        var problems: [ConfigurationProblem] = []
        let issuers = document.tenants.flatMap { tenant in
            tenant.issuers.map { IssuerBuilder(file: self.file).issuer($0, of: tenant, problems: &problems) }
        }
        let guests = document.tenants.compactMap {
            IssuerBuilder(file: self.file).guests(of: $0, problems: &problems)
        }
        guard problems.isEmpty else { throw .invalid(problems) }
        let authenticator: Authenticator
        do {
            authenticator = try Authenticator(
                AuthenticationConfiguration(issuers: issuers), fetcher: self.fetcher, revocations: self.revocations)
        } catch {
            throw .invalid([self.problem(error, document.tenants.flatMap(\.issuers))])
        }
        return GatewaySnapshot(
            generation: generation, authenticator: authenticator, tenants: try self.tenants(of: document),
            providers: document.providers.map(ProviderBuilder.provider),
            relay: self.relay(document.http, document.questions),
            labels: self.labels, guests: guests,
            hopKeys: document.listeners.hop.flatMap { HopKeys($0.secrets.map(\.value)) })
    }

    private func problem(_ message: String) -> ConfigurationProblem {
        ConfigurationProblem(file: self.file, message: message, advice: "change the configuration")
    }

    /// At the last of the entries that are at fault.
    private func problem(
        _ failure: Authentication.ConfigurationFailure, _ issuers: [IssuerSettings]
    ) -> ConfigurationProblem {
        let issuer = failure.issuers.last.flatMap { issuers.indices.contains($0) ? issuers[$0] : nil }
        let name = issuer.map { " \(quoted($0.issuer.string))" } ?? ""
        return ConfigurationProblem(
            file: self.file, position: issuer?.position, message: "the issuer\(name) cannot be used: \(failure)",
            advice: "change it")
    }

    private func tenants(of document: ConfigurationDocument) throws(ConfigurationFailure) -> [TenantSnapshot] {
        var tenants: [TenantSnapshot] = []
        for tenant in document.tenants {
            guard let calendar = self.calendar(tenant.zone) else {
                throw .invalid([self.problem("the zone of tenant `\(tenant.id.string)` is not known here")])
            }
            tenants.append(
                TenantSnapshot(
                    id: tenant.id, plans: tenant.plans.map(\.plan), tasks: tenant.tasks.map(\.name),
                    models: self.models(of: tenant),
                    routing: tenant.routingTable(estimate: { Estimate.tokens(forUTF8: $0) }), calendar: calendar,
                    cache: try self.cache(of: tenant), labels: self.labels, guestPlan: tenant.guestPlan))
        }
        return tenants
    }

    private func cache(of tenant: TenantSettings) throws(ConfigurationFailure) -> AnswerCache? {
        guard tenant.tasks.contains(where: { $0.cache != nil }) else { return nil }
        guard let cache = AnswerCache(tenant.cacheBounds) else {
            throw .invalid([self.problem("OpenSSL gives no keyed hash for the answer cache")])
        }
        return cache
    }

    private func models(of tenant: TenantSettings) -> [ModelName] {
        let lists = tenant.tasks.map(\.routes) + tenant.plans.flatMap { $0.routes.values }
        return lists.flatMap { $0.routes.map(\.model) }
    }

    /// From a few days ago, for asks that settle after midnight, to beyond the life of a process.
    private func calendar(_ zone: String) -> ZoneCalendar? {
        let start = self.now.seconds - 7 * 86_400
        guard let samples = ZoneTransitions.sample(zone, from: start, years: 20), let first = samples.first else {
            return nil
        }
        return ZoneCalendar(
            offsetSeconds: first.offset,
            transitions: samples.dropFirst().map { ZoneCalendar.Transition(instant: $0.at, offsetSeconds: $0.offset) })
    }

    private func relay(_ http: HTTPSettings, _ questions: QuestionSettings) -> RelayConfiguration {
        var relay = RelayConfiguration()
        relay.maxBodyBytes = http.maxBodyBytes
        relay.heartbeat = http.heartbeat
        relay.trustedProxies = http.trustedProxies
        relay.failedAuthentications = http.failedAuthentications
        relay.questions = questions.bounds
        relay.keyLifetime = questions.keyLifetime
        return relay
    }
}
