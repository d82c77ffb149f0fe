import EventLoops
import GatewayTypes
import HTTPCodec
import HTTPServer
import JSON
import Quota

/// Revoked tokens, and plans that operators give.
extension AdminCall {
    /// When a revocation is forgotten that does not say: no token should live as long.
    private static let usualMemory = TimeSpan.seconds(30 * 86_400)

    // MARK: Revocations

    func revocations(of tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        let limit = try self.pageSize(usual: 100)
        var since = 0
        if let text = try self.query.text("after") {
            guard let after = Self.number(text) else {
                throw AdminProblem(
                    .invalidRequest, "`after` has to be the `next` of an earlier answer.", member: "after")
            }
            since = after
        }
        var found: [StandingOrder] = []
        do throws(QuotaFailure) {
            // One more than asked for tells whether there are others.
            while found.count <= limit {
                let page = try await self.store.orders(.operators, of: tenant.id, since: since)
                found += page.filter { $0.isRevocation && $0.isInForce(at: self.now) }
                guard page.count >= StandingOrder.mostOnPage, let last = page.last else { break }
                since = last.version
            }
        } catch {
            throw AdminProblem(error, changes: false)
        }
        let shown = found.prefix(limit)
        return AdminReply { json in
            json.member("tenant", tenant.id.string)
            json.name("revocations")
            json.beginArray()
            for order in shown {
                json.beginObject()
                json.members(of: order)
                json.endObject()
            }
            json.endArray()
            json.member("next", found.count > limit ? shown.last.map { String($0.version) } : nil)
        }
    }

    private static func number(_ text: ByteString) -> Int? {
        text.utf8.count <= 18 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text.string) : nil
    }

    func revoke(in tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        let names = ["tokenId", "sessionId", "subject", "issuedBefore", "reason", "expiresAt", "expiresInSeconds"]
        let body = try await self.body(known: names)
        let target = try Self.target(
            token: try body.identifier("tokenId"), session: try body.identifier("sessionId"),
            subject: try body.identifier("subject"))
        var order = StandingOrder(target)
        order.expiresAt = try body.expiry(now: self.now) ?? self.now + Self.usualMemory
        let before = try body.instant("issuedBefore", notAfter: self.now)
        if case .subject = target {
            order.issuedBefore = before ?? self.now
        } else if before != nil {
            throw AdminProblem(
                .invalidRequest, "`issuedBefore` stands with `subject` only.", member: "issuedBefore")
        }
        return try await self.give(order, in: tenant, reason: try body.reason(isRequired: true))
    }

    func readmit(in tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        func identifier(_ name: String) throws(AdminProblem) -> ByteString? {
            guard let bytes = self.query.bytes(name) else { return nil }
            return try self.identifier(bytes, "`\(name)`")
        }
        let target = try Self.target(
            token: try identifier("tokenId"), session: try identifier("sessionId"),
            subject: try identifier("subject"))
        let order = StandingOrder(target, isLifted: true)
        return try await self.give(order, in: tenant, reason: try self.reasonOfQuery())
    }

    private static func target(
        token: ByteString?, session: ByteString?, subject: ByteString?
    ) throws(AdminProblem) -> StandingOrder.Target {
        switch (token, session, subject) {
        case (let id?, nil, nil): .token(id)
        case (nil, let id?, nil): .session(id)
        case (nil, nil, let id?): .subject(SubjectID(id))
        default:
            throw AdminProblem(
                .invalidRequest, "Exactly one of tokenId, sessionId and subject says what is meant.", member: "tokenId")
        }
    }

    // MARK: Plans

    func changePlan(of key: CounterKey, _ tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        guard key.scope == .subject else { throw AdminProblem(.notFound, "Only subjects have a plan.") }
        let target = StandingOrder.Target.plan(SubjectID(key.id))
        if self.exchange.head.method == .delete {
            let order = StandingOrder(target, isLifted: true)
            return try await self.give(order, in: tenant, reason: try self.reasonOfQuery())
        }
        let body = try await self.body(known: ["plan", "reason", "expiresAt", "expiresInSeconds"])
        let name = try body.identifier("plan").map { PlanName($0) }
        guard let name, tenant.plans.contains(where: { $0.name == name }) else {
            let names = tenant.plans.map(\.name.string).joined(separator: ", ")
            throw AdminProblem(.invalidRequest, "The tenant has no such plan; it has: \(names).", member: "plan")
        }
        let order = StandingOrder(target, plan: name, expiresAt: try body.expiry(now: self.now))
        return try await self.give(order, in: tenant, reason: try body.reason(isRequired: true))
    }

    private func give(
        _ order: StandingOrder, in tenant: AdminTenant, reason: ByteString
    ) async throws(AdminProblem) -> AdminReply {
        guard try self.expectedVersion() == nil else {
            throw AdminProblem(
                .invalidRequest, "If-Match is not taken here: a revocation or a given plan is no change of a version.",
                member: "If-Match")
        }
        let by = OperatorOrder(actor: ByteString(self.operator.name), reason: reason)
        let result: OrderResult
        do throws(QuotaFailure) {
            result = try await self.store.order(order, in: tenant.id, by: by)
        } catch {
            throw AdminProblem(error, changes: true)
        }
        switch result {
        case .unknown: throw AdminProblem(.notFound, "There is nothing of the kind to take back.")
        case .full:
            throw AdminProblem(
                .tooMany, "The tenant has \(StandingOrder.mostOfOperators) revocations and given plans already.")
        case .applied(let given):
            // Holds here with the answer, and at the other instances soon.
            await self.steering.orderGiven(self.exchange.loop.index, tenant.id)
            return AdminReply { json in
                json.member("tenant", tenant.id.string)
                json.member("action", order.action.rawValue)
                json.members(of: given)
            }
        }
    }
}

extension StandingOrder {
    /// Not a plan.
    fileprivate var isRevocation: Bool { if case .plan = self.target { false } else { true } }
}

extension JSONWriter {
    fileprivate mutating func members(of order: StandingOrder) {
        switch order.target {
        case .token(let id): self.member("tokenId", id.string)
        case .session(let id): self.member("sessionId", id.string)
        case .subject(let subject), .guest(let subject):
            self.member("subject", subject.string)
            if !order.isLifted { self.member("issuedBefore", order.issuedBefore) }
        case .plan(let subject):
            self.member("subject", subject.string)
            self.member("plan", order.plan?.string)
        }
        self.member("expiresAt", order.isLifted ? nil : order.expiresAt)
        self.member("at", order.at)
        self.member("actor", order.actor.string)
        self.member("reason", order.reason.string)
    }
}

extension AdminBody {
    /// An identifier of 1 to 255 characters without control characters; nil when the member is absent.
    func identifier(_ name: String) throws(AdminProblem) -> ByteString? {
        guard let value = self.member(name) else { return nil }
        guard let text = value.string, !text.isEmpty, text.unicodeScalars.count <= 255,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw AdminProblem(
                .invalidRequest, "`\(name)` has to be a text of 1 to 255 characters without control characters.",
                member: name)
        }
        return ByteString(text)
    }

    /// A time that lies in the past; nil when the member is absent.
    func instant(_ name: String, notAfter now: WallTime) throws(AdminProblem) -> WallTime? {
        guard let value = self.member(name) else { return nil }
        guard let time = value.string.flatMap(Instant.parse), time > WallTime(seconds: 0),
            time <= now + .seconds(60)
        else {
            throw AdminProblem(
                .invalidRequest, "`\(name)` has to be a time such as 2026-03-21T04:00:00Z that is not in the future.",
                member: name)
        }
        return time
    }
}
