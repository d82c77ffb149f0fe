import GatewayTypes
import JSON

/// From words and options to calls.
extension QuotaCommand {
    static func show(_ options: inout Options) throws(UsageFailure) -> Order {
        let plan = try options.value("--plan")
        let holder = try QuotaHolder(&options, isOptional: true)
        guard let holder else { return Order(path: "/admin/v1/tenants", show: QuotaTables.tenants) }
        return Order(path: holder.path("", [("plan", plan)]), show: QuotaTables.standing)
    }

    static func set(_ options: inout Options) throws(UsageFailure) -> Order {
        let body = try self.body(&options)
        let version = try self.version(&options)
        let holder = try QuotaHolder(&options, takesLimit: true)
        guard let holder, let (limit, quantity) = holder.limit else {
            throw UsageFailure("set needs a limit and its quantity, such as requests_per_minute=100")
        }
        return Order(
            method: "PUT", path: holder.path("/override"),
            body: body { json in
                json.name("limit")
                json.string(limit)
                json.name("quantity")
                json.integer(quantity)
            }, version: version, show: QuotaTables.change)
    }

    static func clear(_ options: inout Options) throws(UsageFailure) -> Order {
        let limit = try options.value("--limit")
        return try self.delete("/override", [("limit", limit)], &options)
    }

    static func block(_ options: inout Options) throws(UsageFailure) -> Order {
        let body = try self.body(&options)
        let version = try self.version(&options)
        guard let holder = try QuotaHolder(&options) else { throw UsageFailure("block needs a tenant") }
        return Order(
            method: "PUT", path: holder.path("/block"), body: body { _ in }, version: version,
            show: QuotaTables.change)
    }

    static func unblock(_ options: inout Options) throws(UsageFailure) -> Order {
        try self.delete("/block", [], &options)
    }

    static func reset(_ options: inout Options) throws(UsageFailure) -> Order {
        let limit = try options.value("--limit")
        let reason = try options.value("--reason")
        let version = try self.version(&options)
        guard let holder = try QuotaHolder(&options) else { throw UsageFailure("reset needs a tenant") }
        var json = JSONWriter()
        json.beginObject()
        if let limit {
            json.name("limit")
            json.string(limit)
        }
        if let reason {
            json.name("reason")
            json.string(reason)
        }
        json.endObject()
        return Order(
            method: "POST", path: holder.path("/reset"), body: json.bytes, version: version,
            show: QuotaTables.change)
    }

    static func leases(_ options: inout Options) throws(UsageFailure) -> Order {
        guard let request = try options.value("--drop") else {
            guard let holder = try QuotaHolder(&options) else { throw UsageFailure("leases needs a tenant") }
            return Order(path: holder.path("/leases"), show: QuotaTables.leases)
        }
        let place = request == "all" ? "/leases" : "/leases/\(QuotaHolder.encoded(request))"
        return try self.delete(place, [], &options)
    }

    static func audit(_ options: inout Options) throws(UsageFailure) -> Order {
        let lines = try options.value("--lines")
        let before = try options.value("--before")
        guard let holder = try QuotaHolder(&options) else { throw UsageFailure("audit needs a tenant") }
        return Order(path: holder.auditPath([("limit", lines), ("before", before)]), show: QuotaTables.audit)
    }

    private static func delete(
        _ place: String, _ query: [(String, String?)], _ options: inout Options
    ) throws(UsageFailure) -> Order {
        let reason = try options.value("--reason")
        let version = try self.version(&options)
        guard let holder = try QuotaHolder(&options) else { throw UsageFailure("a tenant is needed") }
        return Order(
            method: "DELETE", path: holder.path(place, query + [("reason", reason)]), version: version,
            show: QuotaTables.change)
    }

    private static func version(_ options: inout Options) throws(UsageFailure) -> Int? {
        guard let text = try options.value("--if-version") else { return nil }
        guard let version = Int(text), version >= 0 else { throw UsageFailure("--if-version needs a whole number") }
        return version
    }

    /// What an override and a block have in common: why, and until when.
    private static func body(
        _ options: inout Options
    ) throws(UsageFailure) -> ((inout JSONWriter) -> Void) -> [UInt8] {
        guard let reason = try options.value("--reason") else {
            throw UsageFailure("--reason is needed, for those who read the audit trail")
        }
        let span = try options.duration("--for")
        let end = try options.value("--until")
        guard span == nil || end == nil else { throw UsageFailure("--for and --until stand together") }
        return { more in
            var json = JSONWriter()
            json.beginObject()
            more(&json)
            json.name("reason")
            json.string(reason)
            if let span {
                json.name("expiresInSeconds")
                json.integer(Int(span.inMilliseconds / 1000))
            }
            if let end {
                json.name("expiresAt")
                json.string(end)
            }
            json.endObject()
            return json.bytes
        }
    }
}
