import GatewayTypes
import JOSE

/// The only place that spells keys of the store: `ag1:{<tenant>}:<kind><scope>:<id>`.
///
/// One hash tag for each tenant, so that one script may decide over all its counters; ids are written in base64url, or
/// as `~` and their digest when they are long, so that no byte of an id means anything in a key.
struct QuotaKey {
    /// What a key holds.
    enum Kind: UInt8 {
        case record = 0x72  // r
        case steering = 0x6F  // o, set by operators
        case counters = 0x63  // c
        case minute = 0x6D  // m
        case leases = 0x6C  // l
        case trail = 0x61  // a
    }

    /// Longest id that is written as it is, in bytes.
    static let longestPlainID = 48

    /// `ag1:{…}:` of one tenant.
    let prefix: [UInt8]

    init(_ tenant: TenantID) {
        var prefix = Array("ag1:{t".utf8)
        Self.append(tenant.bytes, to: &prefix)
        prefix.append(contentsOf: "}:".utf8)
        self.prefix = prefix
    }

    func record(of request: RequestID) -> ByteString {
        var bytes = self.begin(.record)
        request.append(to: &bytes)
        return Self.text(bytes)
    }

    /// - Parameter id: as `Self.encoded` gives it.
    func key(_ kind: Kind, _ scope: LimitScope, _ id: [UInt8]) -> ByteString {
        var bytes = self.begin(kind)
        bytes.append(Self.letter(scope))
        bytes.append(0x3A)
        bytes.append(contentsOf: id)
        return Self.text(bytes)
    }

    /// The trail of all that was done in the tenant.
    var trail: ByteString { Self.text(self.begin(.trail)) }

    private func begin(_ kind: Kind) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.prefix.count + 48)
        bytes.append(contentsOf: self.prefix)
        bytes.append(kind.rawValue)
        return bytes
    }

    private static func letter(_ scope: LimitScope) -> UInt8 {
        switch scope {
        case .subject: 0x73
        case .tenant: 0x74
        case .address: 0x61
        }
    }

    static func encoded(_ id: ByteString) -> [UInt8] {
        var bytes: [UInt8] = []
        Self.append(id, to: &bytes)
        return bytes
    }

    private static func append(_ id: ByteString, to output: inout [UInt8]) {
        let bytes = Array(id.utf8)
        guard bytes.count > Self.longestPlainID else {
            return output.append(contentsOf: Base64URL.encode(bytes.span))
        }
        output.append(0x7E)
        output.append(contentsOf: Base64URL.encode(SHA256Digest(of: bytes.span).bytes.span))
    }

    /// Only ASCII comes here, which is always UTF-8.
    private static func text(_ bytes: [UInt8]) -> ByteString { ByteString(String(decoding: bytes, as: UTF8.self)) }
}

/// The keys of one caller in its three scopes: subject, tenant and address.
struct CallerKeys {
    private let tenant: QuotaKey
    private let subject: [UInt8]
    private let address: [UInt8]

    init(_ caller: QuotaCaller, tenant: QuotaKey) {
        self.tenant = tenant
        self.subject = QuotaKey.encoded(caller.subject.bytes)
        self.address = QuotaKey.encoded(caller.address)
    }

    func append(_ kind: QuotaKey.Kind, to keys: inout [ByteString]) {
        keys.append(self.tenant.key(kind, .subject, self.subject))
        keys.append(self.tenant.key(kind, .tenant, []))
        keys.append(self.tenant.key(kind, .address, self.address))
    }
}
