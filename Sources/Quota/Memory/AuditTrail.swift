import GatewayTypes

/// What operators did in one tenant, oldest first; bounded in number and age.
struct AuditTrail {
    private var entries = Queue<AuditEntry>()
    private var sequence: UInt64 = 0

    var isEmpty: Bool { self.entries.count == 0 }

    /// - Parameter entry: its cursor is given here.
    mutating func append(_ entry: AuditEntry) {
        self.sequence &+= 1
        var entry = entry
        entry.cursor = AuditCursor(major: self.sequence, minor: 0)
        self.entries.append(entry)
        self.expire(at: entry.at)
        while self.entries.count > Audit.mostEntries { self.entries.popFirst() }
    }

    mutating func expire(at time: WallTime) {
        while let first = self.entries.first, first.at + Audit.memory <= time { self.entries.popFirst() }
    }

    /// Operators ask for this, no request does: it walks over the whole trail.
    func page(_ question: AuditQuestion) -> AuditPage {
        var found: [AuditEntry] = []
        var hasMore = false
        self.entries.forEachBackwards { entry in
            if let before = question.before, entry.cursor >= before { return true }
            if case .holder(let key) = question.subject, entry.key != key { return true }
            guard found.count < question.limit else {
                hasMore = true
                return false
            }
            found.append(entry)
            return true
        }
        return AuditPage(entries: found, next: hasMore ? found.last?.cursor : nil)
    }
}
