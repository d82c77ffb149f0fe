import GatewayTypes
import HTTPCodec
import HTTPServer
import JSON
import Quota

/// What operators change. Each change answers what it did, if anything, and the holder's version afterwards.
extension AdminCall {
    func change(
        _ resource: AdminRoute.Resource, of key: CounterKey
    ) async throws(AdminProblem) -> AdminReply {
        let isDelete = self.exchange.head.method == .delete
        // What would hold for nobody is not set; what was set before can always be taken away.
        if !isDelete, resource == .override || resource == .block { try self.checkReach(of: key) }
        return switch resource {
        case .override where isDelete:
            try await self.apply(
                .clearOverride(try self.query.limitKind()), to: key, by: try self.order(self.reasonOfQuery()))
        case .override: try await self.setOverride(of: key)
        case .block where isDelete:
            try await self.apply(.unblock, to: key, by: try self.order(self.reasonOfQuery()))
        case .block: try await self.block(key)
        case .reset: try await self.reset(key)
        case .leases: try await self.drop(nil, of: key)
        case .lease(let request): try await self.drop(try Self.request(request), of: key)
        case .standing, .plan: throw AdminProblem(.methodNotAllowed, "This is only looked at.")
        }
    }

    private func checkReach(of key: CounterKey) throws(AdminProblem) {
        guard self.reach(of: key)?.isEmpty == true else { return }
        throw AdminProblem(
            .addressesNotCounted,
            "Nothing was done, since it would hold for nobody: what is set for an address holds for callers of plans "
                + "that have a limit of scope `address` (one with `observe: true` will do), and no plan of the tenant "
                + "has one.")
    }

    private func setOverride(of key: CounterKey) async throws(AdminProblem) -> AdminReply {
        let body = try await self.body(known: ["limit", "quantity", "reason", "expiresAt", "expiresInSeconds"])
        guard let kind = try body.limitKind() else {
            throw AdminProblem(.invalidRequest, "`limit` is missing.", member: "limit")
        }
        let override = LimitOverride(quantity: try body.quantity(), expiresAt: try body.expiry(now: self.now))
        let order = try self.order(body.reason(isRequired: true))
        return try await self.apply(.override(kind, override), to: key, by: order)
    }

    private func block(_ key: CounterKey) async throws(AdminProblem) -> AdminReply {
        let body = try await self.body(known: ["reason", "expiresAt", "expiresInSeconds"])
        let order = try self.order(body.reason(isRequired: true))
        return try await self.apply(.block(until: try body.expiry(now: self.now)), to: key, by: order)
    }

    private func reset(_ key: CounterKey) async throws(AdminProblem) -> AdminReply {
        let body = try await self.body(known: ["limit", "reason"], isOptional: true)
        let order = try self.order(body.reason(isRequired: false))
        return try await self.apply(.reset(try body.limitKind()), to: key, by: order)
    }

    private func apply(
        _ change: OperatorChange, to key: CounterKey, by order: OperatorOrder
    ) async throws(AdminProblem) -> AdminReply {
        let result: ChangeResult
        do throws(QuotaFailure) {
            result = try await self.store.apply(change, to: key, by: order)
        } catch {
            throw AdminProblem(error, changes: true)
        }
        let version: Int
        let changed: Bool
        switch result {
        case .applied(let number): (version, changed) = (number, true)
        case .unchanged(let number): (version, changed) = (number, false)
        case .conflict(let current): throw Self.conflict(current)
        }
        return AdminReply(version: version) { json in
            json.members(of: key, reach: self.reach(of: key))
            json.member("action", change.action.rawValue)
            switch change {
            case .override(let kind, let override):
                json.member("limit", kind.rawValue)
                json.member("quantity", override.quantity)
                json.member("expiresAt", override.expiresAt)
            case .clearOverride(let kind), .reset(let kind): json.member("limit", kind?.rawValue)
            case .block(let end): json.member("expiresAt", end)
            case .unblock: break
            }
            json.member("changed", changed)
            json.member("version", version)
        }
    }

    private func drop(_ request: RequestID?, of key: CounterKey) async throws(AdminProblem) -> AdminReply {
        let order = try self.order(self.reasonOfQuery())
        let result: LeaseDrop
        do throws(QuotaFailure) {
            result = try await self.store.dropLeases(of: key, request: request, by: order)
        } catch {
            throw AdminProblem(error, changes: true)
        }
        switch result {
        case .conflict(let current): throw Self.conflict(current)
        case .dropped(let count, let version):
            return AdminReply(version: version) { json in
                json.members(of: key, reach: self.reach(of: key))
                json.member("action", AuditEntry.Action.dropLeases.rawValue)
                json.member("dropped", count)
                json.member("changed", count > 0)
                json.member("version", version)
            }
        }
    }

    private static func conflict(_ current: Int) -> AdminProblem {
        var problem = AdminProblem(
            .versionConflict,
            "Somebody has changed this since you looked: it is at version \(current). Nothing was done.")
        problem.currentVersion = current
        return problem
    }

    /// The 32 digits of a request id.
    private static func request(_ segment: AdminRoute.Segment) throws(AdminProblem) -> RequestID {
        let digits = segment.compactMap(PercentCoding.digit)
        guard segment.count == 32, digits.count == 32 else {
            throw AdminProblem(.invalidRequest, "A request id has 32 hexadecimal digits.")
        }
        func word(_ digits: ArraySlice<UInt8>) -> UInt64 { digits.reduce(0) { $0 << 4 | UInt64($1) } }
        return RequestID(high: word(digits[..<16]), low: word(digits[16...]))
    }

    // MARK: Reload

    func reload() async throws(AdminProblem) -> AdminReply {
        guard self.operator.tenants == nil else {
            throw AdminProblem(.insufficientRole, "The configuration is all tenants'; you may change some only.")
        }
        _ = try await self.body(known: [], isOptional: true)
        switch await self.steering.reload(self.operator.name) {
        case .refused(let problems):
            var problem = AdminProblem(
                .configurationInvalid, "The configuration was not taken; the old one is in force.")
            problem.problems = problems
            throw problem
        case .applied(let generation, let notes):
            return AdminReply { json in
                json.member("snapshotGeneration", generation)
                json.name("notes")
                json.beginArray()
                for note in notes { json.string(note) }
                json.endArray()
            }
        }
    }
}
