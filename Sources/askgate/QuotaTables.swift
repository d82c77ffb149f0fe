import JSON

/// Answers of the admin API as people read them.
enum QuotaTables {
    static func problem(_ json: JSONValue) -> String {
        let lines = [self.text(json, "detail")] + (json["problems"]?.elements.compactMap(\.string) ?? []).map(printable)
        return lines.joined(separator: "\n")
    }

    static func tenants(_ json: JSONValue) -> String {
        var table = TextTable(["TENANT", "ZONE", "PLAN", "LIMIT", "SCOPE", "QUANTITY"], numbers: [5])
        for tenant in json["tenants"]?.elements.map({ $0 }) ?? [] {
            let standard = tenant["defaultPlan"]?.string
            for plan in tenant["plans"]?.elements.map({ $0 }) ?? [] {
                let name = plan["plan"]?.string
                let shown = self.text(plan, "plan") + (name == standard ? " (default)" : "")
                let head = [self.text(tenant, "tenant"), self.text(tenant, "zone"), shown]
                let limits = plan["limits"]?.elements.map { $0 } ?? []
                for limit in limits {
                    table.add(head + [self.text(limit, "name"), self.text(limit, "scope"), self.text(limit, "limit")])
                }
                if limits.isEmpty { table.add(head + ["none", "", ""]) }
            }
        }
        return table.text
    }

    static func standing(_ json: JSONValue) -> String {
        let source = json["scope"]?.string == "address" ? "assumed" : "the tenant's default"
        let assumed = json["planIsAssumed"]?.bool == true ? " (\(source); --plan NAME shows another)" : ""
        var lines = [
            "\(self.holder(json))  plan \(self.text(json, "plan"))\(assumed)  version \(self.text(json, "version"))",
            "running asks: \(self.text(json, "runningAsks"))  \(self.block(json))",
        ]
        if let plans = json["reachesPlans"] { lines.append(self.reach(plans)) }
        lines.append("")
        var table = TextTable(
            ["LIMIT", "SCOPE", "QUANTITY", "OF PLAN", "USED", "REMAINING", "RESETS IN"], numbers: [2, 3, 4, 5, 6])
        for limit in json["limits"]?.elements.map({ $0 }) ?? [] {
            let name = self.text(limit, "name") + (limit["observe"]?.bool == true ? " (observed)" : "")
            table.add(
                [name] + ["scope", "limit", "planLimit", "used", "remaining"].map { self.text(limit, $0) }
                    + [self.span(limit["resetSeconds"]?.int ?? 0)])
        }
        lines.append(table.text)
        let overrides = json["overrides"]?.elements.map { $0 } ?? []
        if !overrides.isEmpty {
            var table = TextTable(["OVERRIDE", "QUANTITY", "UNTIL"], numbers: [1])
            for override in overrides {
                table.add([
                    self.text(override, "limit"), self.text(override, "quantity"), self.end(override, "cleared"),
                ])
            }
            lines += ["", table.text]
        }
        return lines.joined(separator: "\n")
    }

    static func change(_ json: JSONValue) -> String {
        let action = json["action"]?.string
        if json["changed"]?.bool == false {
            let found = self.nothingFound(action ?? "", limit: json["limit"]?.string)
            return "\(self.holder(json))  \(found); nothing was changed  version \(self.text(json, "version"))"
        }
        var what = self.text(json, "action")
        if let limit = json["limit"] { what += limit.isNull ? " of every limit" : " \(self.text(json, "limit"))" }
        if json["quantity"] != nil { what += " to \(self.text(json, "quantity"))" }
        if json["dropped"] != nil { what += ": \(self.text(json, "dropped"))" }
        if let end = json["expiresAt"], !end.isNull { what += " until \(self.text(json, "expiresAt"))" }
        let line = "\(self.holder(json))  \(what)  version \(self.text(json, "version"))"
        guard let plans = json["reachesPlans"], action == "block" || action == "override" else { return line }
        return line + "\n" + self.reach(plans)
    }

    /// Why a change moved nothing.
    private static func nothingFound(_ action: String, limit: String?) -> String {
        switch action {
        case "unblock": "was not blocked"
        case "clear_override": "had no override" + (limit.map { " of \(printable($0))" } ?? "")
        case "reset": "nothing was counted" + (limit.map { " of \(printable($0))" } ?? "")
        default: "no place was held"
        }
    }

    static func leases(_ json: JSONValue) -> String {
        var table = TextTable(["REQUEST", "RUNS SINCE", "ENDS IN"], numbers: [1, 2])
        let leases = json["leases"]?.elements.map { $0 } ?? []
        if leases.isEmpty { return "\(self.holder(json))  no ask holds a place" }
        for lease in leases {
            table.add([
                self.text(lease, "request"), self.span(lease["ageSeconds"]?.int ?? 0),
                self.span(lease["expiresInSeconds"]?.int ?? 0),
            ])
        }
        return table.text
    }

    static func audit(_ json: JSONValue) -> String {
        var table = TextTable(
            ["AT", "ACTOR", "ACTION", "HOLDER", "BEFORE", "AFTER", "UNTIL", "VERSION", "REASON"], numbers: [7])
        for entry in json["entries"]?.elements.map({ $0 }) ?? [] {
            table.add([
                self.text(entry, "at"), self.text(entry, "actor"), self.text(entry, "action"), self.target(of: entry),
                self.state(entry["before"]), self.state(entry["after"]), self.end(entry, ""),
                self.text(entry, "version"), self.text(entry, "reason"),
            ])
        }
        let next = json["next"]?.string.map { "\nolder ones: --before \(printable($0))" } ?? ""
        return table.text + next
    }

    // MARK: Parts

    private static func holder(_ json: JSONValue) -> String {
        let tenant = self.text(json, "tenant")
        switch json["scope"]?.string {
        case "subject": return "\(tenant) \(self.text(json, "subject"))"
        case "address": return "\(tenant) address \(self.text(json, "address"))"
        default: return "\(tenant) (tenant)"
        }
    }

    private static func block(_ json: JSONValue) -> String {
        guard json["isBlocked"]?.bool == true else { return "not blocked" }
        guard let block = json["block"], !block.isNull else {
            return "BLOCKED with its tenant (`askgate quota show \(self.text(json, "tenant"))` says why)"
        }
        let line = "BLOCKED until \(self.end(block, "unblocked"))"
        guard block["at"]?.isNull == false else { return line }
        return line + " (\(self.text(block, "at")) by \(self.text(block, "actor")): \(self.text(block, "reason")))"
    }

    /// Whom that reaches what is set for an address.
    private static func reach(_ plans: JSONValue) -> String {
        let names = plans.elements.compactMap(\.string).map(printable)
        return names.isEmpty
            ? "holds for nobody: no plan of the tenant has a limit of scope address"
            : "holds for callers of the plans: " + names.joined(separator: ", ")
    }

    /// What an entry of the trail is about: a holder, a token or a session.
    private static func target(of entry: JSONValue) -> String {
        guard entry["scope"]?.string == "tenant", entry["object"]?.string != nil else { return self.holder(entry) }
        let kind =
            switch entry["action"]?.string {
            case "revoke_token": "token "
            case "revoke_session": "session "
            default: ""
            }
        return "\(self.text(entry, "tenant")) \(kind)\(self.text(entry, "object"))"
    }

    private static func end(_ json: JSONValue, _ never: String) -> String {
        json["expiresAt"]?.isNull == false ? self.text(json, "expiresAt") : never
    }

    /// What stood before or after a change: amounts, a block or a given plan.
    private static func state(_ json: JSONValue?) -> String {
        if let block = json?["block"] {
            return block.isNull ? "not blocked" : "blocked until \(self.end(block, "unblocked"))"
        }
        if let plan = json?["plan"] { return plan.isNull ? "no plan given" : "plan \(self.text(plan))" }
        var parts: [String] = []
        json?.forEachMember { name, value in
            parts.append("\(String(decoding: name, as: UTF8.self))=\(value.int ?? 0)")
        }
        return parts.isEmpty ? "-" : printable(parts.joined(separator: " "))
    }

    static func text(_ json: JSONValue, _ name: String) -> String {
        json[name].map(self.text) ?? "-"
    }

    private static func text(_ value: JSONValue) -> String {
        guard !value.isNull else { return "-" }
        return value.string.map(printable) ?? value.int.map(String.init) ?? "-"
    }

    /// `41 s`, `6 min 5 s`, `3 h 12 min`.
    private static func span(_ seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        }
    }
}

/// Text that cannot steer a terminal: control and direction characters are written out. Subjects come from tokens.
func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case ..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// Rows of aligned columns.
struct TextTable {
    private var rows: [[String]]
    private let numbers: Set<Int>

    /// - Parameter numbers: columns that end at the right.
    init(_ titles: [String], numbers: Set<Int>) {
        self.rows = [titles]
        self.numbers = numbers
    }

    mutating func add(_ row: [String]) { self.rows.append(row) }

    var text: String {
        var widths = [Int](repeating: 0, count: self.rows.map(\.count).max() ?? 0)
        for row in self.rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        return self.rows.map { self.line($0, widths) }.joined(separator: "\n")
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            let space = String(repeating: " ", count: widths[column] - cell.count)
            line += (column == 0 ? "" : "  ") + (self.numbers.contains(column) ? space + cell : cell + space)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
