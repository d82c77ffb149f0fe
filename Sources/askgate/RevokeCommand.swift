import GatewayTypes
import JSON

/// `askgate revoke`: takes tokens back, through the admin API.
enum RevokeCommand {
    static func run(_ options: inout Options) async -> Int32 {
        await QuotaCommand.run(&options, command: "revoke", example: "token", self.order)
    }

    private static func order(_ verb: String, _ options: inout Options) throws(UsageFailure) -> QuotaCommand.Order {
        switch verb {
        case "token": try self.revoke("tokenId", &options)
        case "session": try self.revoke("sessionId", &options)
        case "subject": try self.revoke("subject", &options)
        case "list": try self.list(&options)
        case "undo": try self.undo(&options)
        default: throw UsageFailure("revoke has no verb \"\(verb)\"")
        }
    }

    private static func revoke(
        _ member: String, _ options: inout Options
    ) throws(UsageFailure) -> QuotaCommand.Order {
        let body = try QuotaCommand.body(&options)
        let before = member == "subject" ? try options.value("--before") : nil
        let named = try options.value("--id")
        let tenant = try self.tenant(&options)
        guard let id = named ?? options.next(), !id.isEmpty else {
            throw UsageFailure("an identifier is needed: TENANT ID")
        }
        return QuotaCommand.Order(
            method: "POST", path: self.path(tenant, []),
            body: body { json in
                var name = member
                name.withUTF8 { json.name(utf8: $0) }
                json.string(id)
                guard let before else { return }
                json.name("issuedBefore")
                json.string(before)
            }, show: QuotaTables.order)
    }

    private static func list(_ options: inout Options) throws(UsageFailure) -> QuotaCommand.Order {
        let query = [("limit", try options.value("--lines")), ("after", try options.value("--after"))]
        return QuotaCommand.Order(path: self.path(try self.tenant(&options), query), show: QuotaTables.revocations)
    }

    private static func undo(_ options: inout Options) throws(UsageFailure) -> QuotaCommand.Order {
        let token = try options.value("--token")
        let session = try options.value("--session")
        let subject = try options.value("--subject")
        let reason = try options.value("--reason")
        guard [token, session, subject].count(where: { $0 != nil }) == 1 else {
            throw UsageFailure("undo needs one of --token, --session and --subject")
        }
        let query = [
            ("tokenId", token.map(QuotaHolder.base64URL)), ("sessionId", session.map(QuotaHolder.base64URL)),
            ("subject", subject.map(QuotaHolder.base64URL)), ("encoding", "base64url"), ("reason", reason),
        ]
        return QuotaCommand.Order(
            method: "DELETE", path: self.path(try self.tenant(&options), query), show: QuotaTables.order)
    }

    private static func tenant(_ options: inout Options) throws(UsageFailure) -> String {
        try options.refuseOthers()
        guard let tenant = options.next() else { throw UsageFailure("a tenant is needed") }
        return tenant
    }

    private static func path(_ tenant: String, _ query: [(String, String?)]) -> String {
        "/admin/v1/tenants/\(QuotaHolder.encoded(tenant))/revocations" + QuotaHolder.query(query)
    }
}

extension QuotaTables {
    static func revocations(_ json: JSONValue) -> String {
        var table = TextTable(["WHAT", "ID", "ISSUED BEFORE", "UNTIL", "BY", "REASON"], numbers: [])
        for entry in json["revocations"]?.elements.map({ $0 }) ?? [] {
            let (what, id) = self.target(entry)
            table.add(
                [what, id] + ["issuedBefore", "expiresAt", "actor", "reason"].map { self.text(entry, $0) })
        }
        let more = json["next"]?.string.map { "\nothers: --after \($0)" } ?? ""
        return json["revocations"]?.count == 0 ? "nothing is revoked" : table.text + more
    }

    /// An order that was given or lifted.
    static func order(_ json: JSONValue) -> String {
        let (what, id) = self.target(json)
        let plan = json["plan"]?.string == nil ? "" : " plan \(self.text(json, "plan"))"
        let end = json["expiresAt"]?.string == nil ? "" : ", until \(self.text(json, "expiresAt"))"
        return "\(self.text(json, "tenant")) \(what) \(id): \(self.text(json, "action"))\(plan)\(end)"
    }

    private static func target(_ json: JSONValue) -> (what: String, id: String) {
        if json["tokenId"] != nil { return ("token", self.text(json, "tokenId")) }
        if json["sessionId"] != nil { return ("session", self.text(json, "sessionId")) }
        return ("subject", self.text(json, "subject"))
    }
}
