import GatewayTypes
import JSON
import Quota

/// The trail that operators leave.
extension AdminCall {
    func audit(_ tenant: AdminTenant) async throws(AdminProblem) -> AdminReply {
        let question = AuditQuestion(
            try self.auditSubject(tenant), limit: try self.pageSize(usual: 50), before: try self.cursor())
        let page: AuditPage
        do throws(QuotaFailure) {
            page = try await self.store.audit(question)
        } catch {
            throw AdminProblem(error, changes: false)
        }
        return AdminReply { json in
            json.member("tenant", tenant.id.string)
            json.name("entries")
            json.beginArray()
            for entry in page.entries { json.element(entry) }
            json.endArray()
            json.member("next", page.next?.description)
        }
    }

    /// One holder, or everything in the tenant.
    private func auditSubject(_ tenant: AdminTenant) throws(AdminProblem) -> AuditQuestion.Subject {
        let subject = self.query.bytes("subject")
        let address = self.query.bytes("address")
        let scope = try self.query.text("scope")
        guard [subject != nil, address != nil, scope != nil].count(where: { $0 }) <= 1 else {
            throw AdminProblem(.invalidRequest, "Only one of subject, address and scope.", member: "scope")
        }
        if let subject {
            return .holder(.subject(SubjectID(try self.identifier(subject, "The subject")), of: tenant.id))
        }
        if let address {
            return .holder(.address(try Self.caller(try self.identifier(address, "The address")), of: tenant.id))
        }
        guard let scope else { return .tenant(tenant.id) }
        guard scope == "tenant" else {
            throw AdminProblem(.invalidRequest, "The only scope to ask for is tenant.", member: "scope")
        }
        return .holder(.tenant(tenant.id))
    }

    func pageSize(usual: Int) throws(AdminProblem) -> Int {
        guard let text = try self.query.text("limit") else { return usual }
        let isPlain = text.utf8.count <= 4 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isPlain, let size = Int(text.string), (1...Audit.mostOnPage).contains(size) else {
            throw AdminProblem(
                .invalidRequest, "`limit` has to be a whole number from 1 to \(Audit.mostOnPage).", member: "limit")
        }
        return size
    }

    private func cursor() throws(AdminProblem) -> AuditCursor? {
        guard let text = try self.query.text("before") else { return nil }
        guard let cursor = AuditCursor(text) else {
            throw AdminProblem(.invalidRequest, "`before` has to be a cursor of an earlier answer.", member: "before")
        }
        return cursor
    }
}

extension AuditEntry.Action {
    /// Its version is one of the order and not of the holder.
    fileprivate var isOrder: Bool {
        switch self {
        case .override, .clearOverride, .block, .unblock, .reset, .dropLeases: false
        case .revokeToken, .revokeSession, .revokeSubject, .readmit, .givePlan, .clearPlan: true
        }
    }
}

extension JSONWriter {
    fileprivate mutating func element(_ entry: AuditEntry) {
        self.beginObject()
        self.member("cursor", entry.cursor.description)
        self.member("at", entry.at)
        self.member("actor", entry.actor.string)
        self.member("action", entry.action.rawValue)
        self.members(of: entry.key)
        self.member("object", entry.object.isEmpty ? nil : entry.object.string)
        self.member("before", entry.before, entry.stateBefore)
        self.member("after", entry.after, entry.stateAfter)
        self.member("expiresAt", entry.expiresAt)
        self.member("reason", entry.reason.string)
        self.member("version", entry.action.isOrder ? nil : entry.version)
        self.endObject()
    }

    /// Quantities by the name of their limit, or what has none; an empty object where nothing is known.
    private mutating func member(_ name: StaticString, _ amounts: KindAmounts, _ state: AuditEntry.State) {
        self.name(name)
        self.beginObject()
        self.members(of: amounts)
        switch state {
        case .untold: break
        case .block(let block):
            self.name("block")
            self.value(block) { _ in }
        case .plan(let plan): self.member("plan", plan?.string)
        }
        self.endObject()
    }
}
