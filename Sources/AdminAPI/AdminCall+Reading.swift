import GatewayTypes
import JSON
import Quota

/// What operators look at.
extension AdminCall {
    func status(_ readiness: ServingState) -> AdminReply {
        AdminReply { json in
            json.member("phase", readiness.phase.rawValue)
            json.member("obstacle", readiness.obstacle)
            json.member("snapshotGeneration", self.view.generation)
            json.name("store")
            json.beginObject()
            json.member("kind", self.steering.storeKind)
            json.name("degraded")
            if let degradation = readiness.degradation {
                json.beginObject()
                json.member("reason", degradation.reason.metricLabel)
                json.member("since", degradation.since)
                json.endObject()
            } else {
                json.null()
            }
            json.endObject()
            json.name("operator")
            json.beginObject()
            json.member("name", self.operator.name)
            json.member("role", self.operator.role.rawValue)
            json.endObject()
        }
    }

    func tenants() -> AdminReply {
        AdminReply { json in
            json.name("tenants")
            json.beginArray()
            for tenant in self.view.tenants where self.operator.sees(tenant.id) {
                json.beginObject()
                Self.write(tenant, to: &json)
                json.endObject()
            }
            json.endArray()
        }
    }

    private static func write(_ tenant: AdminTenant, to json: inout JSONWriter) {
        json.member("tenant", tenant.id.string)
        json.member("zone", tenant.zone)
        json.member("defaultPlan", tenant.defaultPlan.string)
        json.member("guestPlan", tenant.guestPlan?.string)
        json.name("plans")
        json.beginArray()
        for plan in tenant.plans {
            json.beginObject()
            json.member("plan", plan.name.string)
            json.name("limits")
            json.beginArray()
            for limit in plan.limits {
                json.beginObject()
                json.member("name", limit.kind.rawValue)
                json.member("scope", limit.scope.rawValue)
                json.member("limit", limit.quantity)
                json.member("observe", limit.observe)
                json.member("stance", limit.stance.rawValue)
                json.endObject()
            }
            json.endArray()
            json.endObject()
        }
        json.endArray()
    }

    /// A tenant's plans and where its own counters stand.
    func tenant(_ tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        let holder = try await self.holder(.tenant(tenant.id), of: tenant)
        return AdminReply(version: holder.steering.version) { json in
            Self.write(tenant, to: &json)
            json.name("standing")
            json.beginObject()
            holder.write(to: &json)
            json.endObject()
        }
    }

    /// Where a holder stands: limits, running asks, and what operators have set.
    func standing(of key: CounterKey, _ tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        let holder = try await self.holder(key, of: tenant)
        return AdminReply(version: holder.steering.version) { holder.write(to: &$0) }
    }

    private func holder(_ key: CounterKey, of tenant: AdminTenant) async throws(AdminProblem) -> HolderStanding {
        let plan = try self.plan(of: tenant, for: key)
        // A subject is held by its tenant's limits too; by those of an address only with the address.
        let limits = plan.limits.filter { $0.scope == key.scope || key.scope == .subject && $0.scope == .tenant }
        let caller = QuotaCaller(
            tenant: tenant.id, subject: SubjectID(key.scope == .subject ? key.id : ""),
            address: key.scope == .address ? key.id : "")
        do throws(QuotaFailure) {
            let question = QuotaQuestion(caller: caller, limits: limits, calendar: tenant.calendar)
            let steering = try await self.store.steering(of: key)
            return HolderStanding(
                key: key, reach: self.reach(of: key), plan: plan.name, isAssumed: plan.isAssumed, limits: limits,
                steering: steering, blockOrder: steering.steering.isBlocked ? try await self.blockOrder(of: key) : nil,
                standing: try await self.store.look(question), running: try await self.store.leases(of: key).count)
        } catch {
            throw AdminProblem(error, changes: false)
        }
    }

    /// The order that the block of a holder stands by; nil once the trail has forgotten it.
    private func blockOrder(of key: CounterKey) async throws(QuotaFailure) -> AuditEntry? {
        var question = AuditQuestion(.holder(key), limit: Audit.mostOnPage)
        repeat {
            let page = try await self.store.audit(question)
            if let order = page.entries.first(where: { $0.action == .block }) { return order }
            question.before = page.next
        } while question.before != nil
        return nil
    }

    func leases(of key: CounterKey) async throws(AdminProblem) -> AdminReply {
        let leases: [LeaseRecord]
        do throws(QuotaFailure) {
            leases = try await self.store.leases(of: key)
        } catch {
            throw AdminProblem(error, changes: false)
        }
        return AdminReply { json in
            json.members(of: key)
            json.name("leases")
            json.beginArray()
            for lease in leases {
                json.beginObject()
                json.member("request", lease.request.description)
                json.member("ageSeconds", lease.ageSeconds)
                json.member("expiresInSeconds", lease.expiresInSeconds)
                json.endObject()
            }
            json.endArray()
        }
    }
}

/// What is known of one holder.
struct HolderStanding {
    var key: CounterKey
    /// Of an address.
    var reach: [PlanName]?
    var plan: PlanName
    /// The plan is the tenant's default, not one that was asked for.
    var isAssumed: Bool
    var limits: [Limit]
    var steering: VersionedSteering
    /// By which the holder is blocked, where it is and the trail tells.
    var blockOrder: AuditEntry?
    var standing: Standing
    var running: Int

    func write(to json: inout JSONWriter) {
        json.members(of: self.key, reach: self.reach)
        json.member("plan", self.plan.string)
        json.member("planIsAssumed", self.isAssumed)
        json.member("limits", self.standing.states, plan: self.limits)
        json.member("runningAsks", self.running)
        json.member("isBlocked", self.standing.isBlocked)
        json.members(of: self.steering, order: self.blockOrder)
    }
}
