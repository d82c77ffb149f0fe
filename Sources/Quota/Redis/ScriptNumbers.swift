import GatewayTypes

/// Numbers for a script that every ask runs: little-endian doubles, which hold every integer to 2^53 and are read
/// without parsing.
enum PackedNumbers {
    static func append(_ number: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: Double(number).bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Numbers for a script that runs rarely, as a JSON array.
struct ScriptNumbers {
    private var bytes: [UInt8] = [0x5B]

    init(capacity: Int = 16) { self.bytes.reserveCapacity(capacity &* 12) }

    mutating func add(_ number: Int) {
        if self.bytes.count > 1 { self.bytes.append(0x2C) }
        Decimal.append(number, to: &self.bytes)
    }

    mutating func add(_ number: Int64) { self.add(Int(number)) }

    /// An instant in microseconds, 0 for none; what is later than the store can count never comes.
    mutating func add(_ time: WallTime?) {
        guard let time else { return self.add(0) }
        self.add(min(max(time.microseconds, 1), Int64(QuotaAsk.largestQuantity) &- 1))
    }

    consuming func text() -> ByteString {
        self.bytes.append(0x5D)
        return ByteString(String(decoding: self.bytes, as: UTF8.self))
    }
}

/// Reads a script's answer element by element; what is missing or of the wrong sort is nil.
struct ScriptAnswer {
    private let values: [ScriptValue]
    private var index = 1

    /// Nil for an answer of another version.
    init?(_ values: [ScriptValue]) {
        guard values.first?.integer == QuotaScript.version else { return nil }
        self.values = values
    }

    var isAtEnd: Bool { self.index >= self.values.count }

    mutating func integer() -> Int? { self.next()?.integer }
    mutating func text() -> ByteString? { self.next()?.text }

    /// An instant in microseconds; 0 stands for none.
    mutating func instant() -> WallTime?? {
        guard let number = self.integer() else { return nil }
        return .some(number == 0 ? nil : WallTime(microseconds: Int64(number)))
    }

    private mutating func next() -> ScriptValue? {
        guard self.index < self.values.count else { return nil }
        defer { self.index &+= 1 }
        return self.values[self.index]
    }
}

/// Scopes and kinds as scripts know them.
enum ScriptCode {
    static func scope(_ scope: LimitScope) -> Int {
        switch scope {
        case .subject: 0
        case .tenant: 1
        case .address: 2
        }
    }

    static func kind(_ kind: LimitKind) -> Int {
        switch kind {
        case .requestsPerMinute: 0
        case .tokensPerDay: 1
        case .concurrentRequests: 2
        }
    }

    static func limit(_ limit: Limit) -> Int {
        Self.scope(limit.scope) &* 6 &+ Self.kind(limit.kind) &* 2 &+ (limit.observe ? 1 : 0)
    }

    /// The scope and kind of a limit's code.
    static func names(_ code: Int) -> (LimitScope, LimitKind)? {
        let scopes: [LimitScope] = [.subject, .tenant, .address]
        let kinds: [LimitKind] = [.requestsPerMinute, .tokensPerDay, .concurrentRequests]
        guard (0..<18).contains(code) else { return nil }
        return (scopes[code / 6], kinds[code % 6 / 2])
    }
}
