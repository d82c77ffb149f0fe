import EventLoops
import Gateway
import GatewayTypes
import HTTPCodec
import HTTPServer
import JOSE
import JSON
import Quota

/// One authenticated request below `/admin/v1`, and what answering it needs. On its loop.
struct AdminCall {
    let exchange: Exchange
    let steering: AdminSteering
    let view: AdminView
    let `operator`: Operator
    let query: QueryItems
    let now: WallTime

    var store: any QuotaStore { self.steering.store(self.exchange.loop.index) }

    init(
        _ exchange: Exchange, _ steering: AdminSteering, route: AdminRoute, changes: Bool
    ) throws(AdminProblem) {
        self.exchange = exchange
        self.steering = steering
        self.view = steering.view()
        self.now = exchange.loop.clock.wallTime()
        self.operator = try Self.authenticate(exchange.head, self.view.operators)
        if changes, self.operator.role != .operator {
            var problem = AdminProblem(.insufficientRole, "A viewer changes nothing; this takes the role `operator`.")
            problem.challenge = #"Bearer realm="askgate-admin", error="insufficient_scope""#
            throw problem
        }
        let head = exchange.head
        self.query = try QueryItems(
            head.bytes[head.query ?? 0..<0], known: route.parameters(for: head.method))
        if let encoding = self.query.bytes("encoding"), !encoding.elementsEqual("base64url".utf8) {
            throw AdminProblem(.invalidRequest, "The only encoding is base64url.", member: "encoding")
        }
    }

    /// One `Authorization` field with a token that is known; whatever else there is gets the same answer.
    private static func authenticate(
        _ head: HTTPRequestHead, _ operators: OperatorTable
    ) throws(AdminProblem) -> Operator {
        let count = head.count(of: .authorization)
        let found: Operator? =
            count == 1 ? head.withValue(of: .authorization) { operators.operator(authorization: $0) } ?? nil : nil
        if let found { return found }
        var problem = AdminProblem(.unauthenticated, "This takes an operator's token.")
        problem.challenge =
            count == 0 ? #"Bearer realm="askgate-admin""# : #"Bearer realm="askgate-admin", error="invalid_token""#
        throw problem
    }

    // MARK: Names

    /// The tenant of a path; one that the operator may not see is not there.
    func tenant(_ segment: AdminRoute.Segment) throws(AdminProblem) -> AdminTenant {
        let id = PercentCoding.decode(segment).flatMap { ByteString(utf8: $0) }
        guard let id, let tenant = self.view.tenant(TenantID(id), for: self.operator) else {
            throw AdminProblem(.unknownTenant, "There is no such tenant.")
        }
        return tenant
    }

    /// Whose counters a path names.
    func key(_ path: AdminRoute.HolderPath, of tenant: AdminTenant) throws(AdminProblem) -> CounterKey {
        switch path {
        case .tenant: .tenant(tenant.id)
        case .subject(let id): .subject(SubjectID(try self.identifier(id, "The subject")), of: tenant.id)
        case .address(let id): .address(try Self.caller(try self.identifier(id, "The address")), of: tenant.id)
        }
    }

    /// An address as limits count it, whichever way it is written; of IPv6 also its network, as answers show it.
    static func caller(_ written: ByteString) throws(AdminProblem) -> ByteString {
        var text = Array(written.utf8)
        // The tokens of guests that an address gets are counted apart from its asks.
        let sessions = CounterKey.guestSessions.utf8
        if text.starts(with: sessions) {
            text.removeFirst(sessions.count)
            return ByteString(CounterKey.guestSessions.string + (try self.caller(ByteString(utf8: text) ?? "")).string)
        }
        if let address = PeerAddress(text: text) { return address.callerText }
        let suffix = Array("/64".utf8)
        if text.suffix(suffix.count).elementsEqual(suffix),
            let network = PeerAddress(text: text.dropLast(suffix.count)), network.bytes.count == 16
        {
            return network.callerText
        }
        throw AdminProblem(
            .invalidRequest,
            "Write one IPv4 or IPv6 address, without zone or port; ranges are not possible. Of IPv6 it counts as its /64.",
            member: "address")
    }

    /// Of an address the plans for whose callers it counts: with other plans the store is not asked about the address,
    /// and nothing that is set for it holds. Nil for other holders.
    func reach(of key: CounterKey) -> [PlanName]? {
        guard key.scope == .address, !key.id.utf8.starts(with: CounterKey.guestSessions.utf8) else { return nil }
        let plans = self.view.tenants.first { $0.id == key.tenant }?.plans ?? []
        return plans.filter { $0.limits.contains { $0.scope == .address } }.map(\.name)
    }

    private func identifier(_ segment: AdminRoute.Segment, _ what: String) throws(AdminProblem) -> ByteString {
        guard let bytes = PercentCoding.decode(segment) else {
            throw AdminProblem(.invalidRequest, "\(what) is not percent-encoded.")
        }
        return try self.identifier(bytes, what)
    }

    /// An identifier as the parameter `encoding` says it is written.
    func identifier(_ written: [UInt8], _ what: String) throws(AdminProblem) -> ByteString {
        var bytes = written
        if self.query.bytes("encoding") != nil {
            guard let decoded = Base64URL.decode(written.span) else {
                throw AdminProblem(.invalidRequest, "\(what) is not base64url.")
            }
            bytes = decoded
        }
        guard !bytes.isEmpty, let text = ByteString(utf8: bytes) else {
            throw AdminProblem(.invalidRequest, "\(what) is empty or not UTF-8.")
        }
        return text
    }

    /// The plan that the query names, else what an operator has given, else the tenant's default: what a caller's
    /// token says is known from the token only. Of an address the first that counts it, where the default does not.
    func plan(
        of tenant: AdminTenant, for key: CounterKey
    ) throws(AdminProblem) -> (name: PlanName, limits: [Limit], isAssumed: Bool) {
        var wanted = try self.query.text("plan").map { PlanName($0) }
        if wanted == nil, key.scope == .subject {
            let given = self.steering.givenPlan(tenant.id, SubjectID(key.id))
            wanted = tenant.plans.contains { $0.name == given } ? given : nil
        }
        let counting = self.reach(of: key) ?? []
        let usual = counting.contains(tenant.defaultPlan) ? tenant.defaultPlan : counting.first ?? tenant.defaultPlan
        guard let plan = tenant.plans.first(where: { $0.name == wanted ?? usual }) else {
            let names = tenant.plans.map(\.name.string).joined(separator: ", ")
            throw AdminProblem(.invalidRequest, "The tenant has no such plan; it has: \(names).", member: "plan")
        }
        return (plan.name, plan.limits, wanted == nil)
    }

    // MARK: Changes

    /// The body as strict JSON. Waits for it.
    func body(known: [String], isOptional: Bool = false) async throws(AdminProblem) -> AdminBody {
        if self.exchange.head.withValue(of: .contentType, { MediaType.isJSON($0) }) == false {
            throw AdminProblem(.unsupportedMediaType, "The body has to be application/json.")
        }
        let bytes: [UInt8]
        do throws(HTTPServerFailure) {
            bytes = try await self.exchange.readBody(limit: AdminBody.limit)
        } catch {
            throw AdminProblem(error)
        }
        return try AdminBody(bytes, known: known, isOptional: isOptional)
    }

    /// Who changes something, why, and which version they saw.
    func order(_ reason: ByteString) throws(AdminProblem) -> OperatorOrder {
        OperatorOrder(
            actor: ByteString(self.operator.name), reason: reason, expectedVersion: try self.expectedVersion())
    }

    /// A reason given in the query, for requests without a body.
    func reasonOfQuery() throws(AdminProblem) -> ByteString {
        guard let reason = try self.query.text("reason") else { return "" }
        return try AdminBody.checked(reason: reason)
    }

    /// The version that `If-Match` asks for; nil for none. A tag that is none of ours fits no version.
    func expectedVersion() throws(AdminProblem) -> Int? {
        let head = self.exchange.head
        let lines = head.fields.filter { line in
            head.bytes[line.name].elementsEqual("if-match".utf8) { $0 == $1 || $0 | 0x20 == $1 }
        }
        guard let line = lines.first else { return nil }
        let tag = head.bytes[line.value]
        if lines.count == 1, tag.elementsEqual("*".utf8) { return nil }
        // Weak tags fit nothing here (RFC 9110 §13.1.1).
        let isWeak = tag.starts(with: "W/".utf8)
        let quoted = isWeak ? tag.dropFirst(2) : tag
        let inner = quoted.dropFirst().dropLast()
        guard lines.count == 1, quoted.count >= 2, quoted.first == 0x22, quoted.last == 0x22, !inner.contains(0x22)
        else {
            throw AdminProblem(
                .invalidRequest, #"If-Match takes one entity tag, such as "3", or *."#, member: "If-Match")
        }
        let version = Int(String(decoding: inner, as: UTF8.self))
        let isOurs = !isWeak && inner.allSatisfy { (0x30...0x39).contains($0) } && inner.count <= 15
        return isOurs ? version ?? QuotaAsk.largestQuantity : QuotaAsk.largestQuantity
    }
}

/// What a request is answered with.
struct AdminReply {
    var body: [UInt8]
    /// The holder's version, told as `ETag`.
    var version: Int?

    init(version: Int? = nil, _ write: (inout JSONWriter) -> Void) {
        var json = JSONWriter()
        json.beginObject()
        write(&json)
        json.endObject()
        self.body = json.bytes
        self.version = version
    }
}
