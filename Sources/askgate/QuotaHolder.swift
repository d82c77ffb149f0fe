import GatewayTypes
import JOSE

/// Whose counters a command means: `TENANT`, `TENANT SUBJECT`, or with `--subject` or `--address`.
struct QuotaHolder {
    let tenant: String
    private var subject: String?
    private var address: String?
    /// A word `NAME=QUANTITY`.
    private(set) var limit: (name: String, quantity: Int)?

    /// - Parameters:
    ///   - isOptional: whether there may be no tenant at all; nil then.
    ///   - takesLimit: whether the last word is `NAME=QUANTITY`.
    init?(_ options: inout Options, isOptional: Bool = false, takesLimit: Bool = false) throws(UsageFailure) {
        self.subject = try options.value("--subject")
        self.address = try options.value("--address")
        try options.refuseOthers()
        var words: [String] = []
        while let word = options.next() { words.append(word) }
        if takesLimit, let last = words.popLast() {
            self.limit = try Self.limit(last)
            if let other = words.last, (try? Self.limit(other)) != nil {
                throw UsageFailure("set takes one NAME=QUANTITY; give \(other) in a command of its own")
            }
        }
        guard let tenant = words.first, !tenant.isEmpty else {
            if isOptional { return nil }
            throw UsageFailure("a tenant is needed: TENANT, or TENANT SUBJECT")
        }
        self.tenant = tenant
        if words.count == 2, self.subject == nil { self.subject = words.removeLast() }
        guard words.count == 1, self.subject == nil || self.address == nil, self.subject != "", self.address != ""
        else {
            throw UsageFailure("name one holder: TENANT, TENANT SUBJECT, or TENANT --address ADDRESS")
        }
    }

    private static func limit(_ word: String) throws(UsageFailure) -> (String, Int) {
        let parts = word.split(separator: "=", omittingEmptySubsequences: false)
        let isPlain = parts.count == 2 && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isPlain, let kind = LimitKind(rawValue: String(parts[0])), let quantity = Int(parts[1]) else {
            let names = LimitKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageFailure("\"\(word)\" is not NAME=QUANTITY with one of \(names)")
        }
        return (kind.rawValue, quantity)
    }

    /// The path of a resource of the holder.
    func path(_ resource: String, _ query: [(String, String?)] = []) -> String {
        let base = "/admin/v1/tenants/\(Self.encoded(self.tenant))"
        if let id = self.subject ?? self.address {
            let kind = self.subject == nil ? "addresses" : "subjects"
            // Base64url: nothing on the way rewrites it, whatever the identifier holds.
            return "\(base)/\(kind)/\(Self.base64URL(id))\(resource)"
                + Self.query(query + [("encoding", "base64url")])
        }
        return "\(base)/limits\(resource)" + Self.query(query)
    }

    /// The path of the audit trail, of the holder or of everything in the tenant.
    func auditPath(_ query: [(String, String?)]) -> String {
        let names = [("subject", self.subject.map(Self.base64URL)), ("address", self.address.map(Self.base64URL))]
        let encoding = [("encoding", self.subject ?? self.address == nil ? nil : "base64url")]
        return "/admin/v1/tenants/\(Self.encoded(self.tenant))/audit" + Self.query(query + names + encoding)
    }

    static func base64URL(_ text: String) -> String {
        String(decoding: Base64URL.encode(Array(text.utf8).span), as: UTF8.self)
    }

    static func query(_ items: [(String, String?)]) -> String {
        let pairs = items.compactMap { name, value in value.map { "\(name)=\(self.encoded($0))" } }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }

    /// Percent-encoded but for unreserved characters (RFC 3986 §2.3).
    static func encoded(_ text: String) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: result.append(byte)
            default: result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
