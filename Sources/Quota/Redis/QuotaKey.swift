import GatewayTypes
import JOSE
import RedisClient

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
        case handedOver = 0x68  // h, by guests
        case idempotency = 0x69  // i
    }

    /// Longest id that is written as it is, in bytes.
    static let longestPlainID = 48

    /// `ag1:{…}:` of one tenant.
    let prefix: [UInt8]
    /// `{…}`, which decides where in a cluster the tenant lives.
    let tag: ByteString

    init(_ tenant: TenantID) {
        var prefix = Array("ag1:{t".utf8)
        Self.append(tenant.bytes, to: &prefix)
        prefix.append(contentsOf: "}:".utf8)
        self.prefix = prefix
        self.tag = ByteString(String(decoding: prefix[4..<(prefix.count - 1)], as: UTF8.self))
    }

    func append(recordOf request: RequestID, to keys: inout RedisWords) {
        keys.append(length: self.prefix.count + 1 + RequestID.textLength) { bytes in
            self.begin(.record, &bytes)
            request.append(to: &bytes)
        }
    }

    /// - Parameter digest: of an idempotency key.
    func append(key digest: ByteString, to keys: inout RedisWords) {
        keys.append(length: self.prefix.count + 1 + digest.utf8.count) { bytes in
            self.begin(.idempotency, &bytes)
            bytes.append(contentsOf: digest.utf8)
        }
    }

    /// - Parameter id: as `Self.encoded` gives it.
    func append(_ kind: Kind, _ scope: LimitScope, _ id: [UInt8], to keys: inout RedisWords) {
        keys.append(length: self.prefix.count + 3 + id.count) { bytes in
            self.begin(kind, &bytes)
            bytes.append(Self.letter(scope))
            bytes.append(0x3A)
            bytes.append(contentsOf: id)
        }
    }

    /// The trail of all that was done in the tenant.
    func appendTrail(to keys: inout RedisWords) {
        keys.append(length: self.prefix.count + 1) { self.begin(.trail, &$0) }
    }

    /// The keys of a book of orders: the orders, their versions and, unless only these are wanted, their ends.
    func append(_ book: OrderBook, withEnds: Bool = true, to keys: inout RedisWords) {
        let letter: UInt8 = book == .operators ? 0x76 : 0x67  // v, g
        for part in [0x6F, 0x76, 0x65] as [UInt8] where withEnds || part != 0x65 {
            keys.append(length: self.prefix.count + 3) { bytes in
                bytes.append(contentsOf: self.prefix)
                bytes.append(contentsOf: [letter, 0x3A, part])
            }
        }
    }

    private func begin(_ kind: Kind, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: self.prefix)
        bytes.append(kind.rawValue)
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
}

/// The keys of one caller in its scopes: subject, tenant and, where it counts, address.
struct CallerKeys {
    let tenant: QuotaKey
    private let subject: [UInt8]
    private let address: [UInt8]?

    /// - Parameter limits: of its plan when it asked; nil where they are not known, which names all three scopes. A
    ///   caller without an address has no keys of one unless a limit counts those without: nobody can steer them, and
    ///   each key costs the store.
    init(_ caller: QuotaCaller, limits: [Limit]?, tenant: QuotaKey) {
        self.tenant = tenant
        self.subject = QuotaKey.encoded(caller.subject.bytes)
        let counts = !caller.address.isEmpty || limits?.contains { $0.scope == .address } ?? true
        self.address = counts ? QuotaKey.encoded(caller.address) : nil
    }

    func append(_ kind: QuotaKey.Kind, to keys: inout RedisWords) {
        self.tenant.append(kind, .subject, self.subject, to: &keys)
        self.tenant.append(kind, .tenant, [], to: &keys)
        if let address { self.tenant.append(kind, .address, address, to: &keys) }
    }

    /// What the subject has handed over, if it is a guest.
    func appendHandedOver(to keys: inout RedisWords) {
        self.tenant.append(.handedOver, .subject, self.subject, to: &keys)
    }

    /// Of a script about one ask: its record, and the keys of these kinds.
    func keys(recordOf request: RequestID, _ kinds: QuotaKey.Kind...) -> RedisWords {
        var keys = RedisWords(
            capacity: (3 * kinds.count + 1) * (self.tenant.prefix.count + 12)
                + kinds.count * (self.subject.count + (self.address?.count ?? 0)) + RequestID.textLength)
        self.tenant.append(recordOf: request, to: &keys)
        for kind in kinds { self.append(kind, to: &keys) }
        return keys
    }
}
