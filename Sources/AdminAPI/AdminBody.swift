import GatewayTypes
import JSON
import Quota

/// The members of a request's body, read strictly: whatever is unknown or of another type is refused by name.
struct AdminBody {
    private let root: JSONValue?

    /// Most bytes of a body.
    static let limit = 16_384
    /// Farthest end of an override or a block, in seconds from now: ten years.
    static let longestExpiry = 315_360_000
    /// Unicode scalars of a reason; four bytes each still fit what the trail keeps.
    static let longestReason = OperatorOrder.longestReason / 4

    /// - Parameters:
    ///   - known: the names of its members.
    ///   - isOptional: whether an empty body is one without members.
    init(_ bytes: [UInt8], known: [String], isOptional: Bool = false) throws(AdminProblem) {
        if bytes.isEmpty, isOptional {
            self.root = nil
            return
        }
        let root: JSONValue
        do throws(JSONFailure) {
            root = try JSONDocument(parsing: bytes, limits: JSONLimits(bytes: Self.limit, depth: 4)).root
        } catch {
            throw AdminProblem(.invalidRequest, "The body is not JSON: \(error.description).")
        }
        guard root.kind == .object else { throw AdminProblem(.invalidRequest, "The body is not a JSON object.") }
        try root.forEachMember { (name, _) throws(AdminProblem) in
            guard known.contains(where: { $0.utf8.elementsEqual(name) }) else {
                throw AdminProblem(
                    .invalidRequest,
                    "There is no member of this name here; known are: \(known.joined(separator: ", ")).",
                    member: String(decoding: name.prefix(64), as: UTF8.self))
            }
        }
        self.root = root
    }

    private func member(_ name: String) -> JSONValue? { self.root?[name] }

    private static func wrong(_ member: String, _ detail: String) -> AdminProblem {
        AdminProblem(.invalidRequest, detail, member: member)
    }

    func limitKind() throws(AdminProblem) -> LimitKind? {
        guard let value = self.member("limit") else { return nil }
        guard let kind = value.string.flatMap({ LimitKind(rawValue: $0) }) else { throw AdminProblem.unknownLimit }
        return kind
    }

    func quantity() throws(AdminProblem) -> Int {
        let range = 0...QuotaAsk.largestQuantity
        guard let value = self.member("quantity")?.int, range.contains(value) else {
            throw Self.wrong("quantity", "`quantity` has to be a whole number from 0 to \(range.upperBound).")
        }
        return value
    }

    /// Why the change is made.
    func reason(isRequired: Bool) throws(AdminProblem) -> ByteString {
        guard let value = self.member("reason") else {
            guard isRequired else { return "" }
            throw Self.wrong("reason", "`reason` is missing: say why, for those who read the audit trail.")
        }
        guard let bytes = value.bytes, let text = ByteString(utf8: bytes) else {
            throw Self.wrong("reason", "`reason` has to be a text.")
        }
        return try Self.checked(reason: text)
    }

    /// Refuses a reason that is too long, of several lines, or of spaces only.
    static func checked(reason: ByteString) throws(AdminProblem) -> ByteString {
        let bytes = reason.utf8
        guard reason.string.unicodeScalars.count <= Self.longestReason, bytes.contains(where: { $0 > 0x20 }),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw self.wrong(
                "reason",
                "`reason` has to be a text of 1 to \(Self.longestReason) characters on one line, not only of spaces.")
        }
        return reason
    }

    /// When the change ends; nil for never.
    func expiry(now: WallTime) throws(AdminProblem) -> WallTime? {
        let at = self.member("expiresAt")
        guard let span = self.member("expiresInSeconds") else {
            guard let at else { return nil }
            guard let time = at.string.flatMap(Instant.parse) else {
                throw Self.wrong("expiresAt", "`expiresAt` has to be a time such as 2030-03-21T04:00:00Z.")
            }
            guard time > now, time <= now + .seconds(Int64(Self.longestExpiry)) else {
                throw Self.wrong("expiresAt", "`expiresAt` has to lie in the future, at most ten years from now.")
            }
            return time
        }
        guard at == nil else {
            throw Self.wrong("expiresInSeconds", "`expiresAt` and `expiresInSeconds` stand together; one is enough.")
        }
        guard let seconds = span.int, (1...Self.longestExpiry).contains(seconds) else {
            throw Self.wrong(
                "expiresInSeconds", "`expiresInSeconds` has to be a whole number from 1 to \(Self.longestExpiry).")
        }
        return now + .seconds(Int64(seconds))
    }
}
