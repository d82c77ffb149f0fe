/// What the `Accept` lines of a request say about event streams and JSON.
///
/// Event streams have to be named: a wildcard alone never starts a stream. Named, they win over a JSON that only a
/// wildcard allows unless its weight is higher, and over a named JSON if their own weight is higher.
package struct AcceptPreference: Sendable {
    /// Weights in thousandths; nil when not named.
    private var eventStream: Int?
    private var json: Int?
    private var applicationWildcard: Int?
    private var wildcard: Int?

    package init() {}

    /// Takes one `Accept` line.
    package mutating func add(_ accept: Span<UInt8>) {
        FieldList.forEach(accept) { self.addRange($0) }
    }

    package var prefersEventStream: Bool {
        guard let eventStream = self.eventStream, eventStream > 0 else { return false }
        if let json = self.json { return eventStream > json }
        return eventStream >= self.applicationWildcard ?? self.wildcard ?? 0
    }

    private mutating func addRange(_ range: Span<UInt8>) {
        let essence = range.extracting(MediaType.essence(range))
        if ByteComparison.equalsFolded(essence, "text/event-stream") {
            self.eventStream = max(self.eventStream ?? 0, Self.weight(range))
        } else if ByteComparison.equalsFolded(essence, "application/json") {
            self.json = max(self.json ?? 0, Self.weight(range))
        } else if ByteComparison.equalsFolded(essence, "application/*") {
            self.applicationWildcard = max(self.applicationWildcard ?? 0, Self.weight(range))
        } else if ByteComparison.equalsFolded(essence, "*/*") {
            self.wildcard = max(self.wildcard ?? 0, Self.weight(range))
        }
    }

    /// The `q` parameter in thousandths: 1000 when absent, 0 when it is no weight (RFC 9110 §12.4.2).
    private static func weight(_ range: Span<UInt8>) -> Int {
        var weight = 1000
        FieldList.forEach(range, separator: Byte.semicolon) { parameter in
            if parameter.count >= 2, parameter[0] | 0x20 == 0x71, parameter[1] == Byte.equals {
                weight = self.thousandths(parameter.extracting(2..<parameter.count))
            }
        }
        return weight
    }

    private static func thousandths(_ text: Span<UInt8>) -> Int {
        guard text.count > 0, text.count <= 5, let whole = Byte.digit(text[0]), whole <= 1 else { return 0 }
        guard text.count == 1 || text[1] == Byte.period else { return 0 }
        var value = whole &* 1000
        var unit = 100
        for at in stride(from: 2, to: text.count, by: 1) {
            guard let digit = Byte.digit(text[at]) else { return 0 }
            value &+= digit &* unit
            unit /= 10
        }
        return value <= 1000 ? value : 0
    }
}

extension HTTPRequestHead {
    /// Whether the `Accept` lines would rather have an event stream than JSON.
    package var prefersEventStream: Bool {
        var preference = AcceptPreference()
        self.forEachValue(of: .accept) { preference.add($0) }
        return preference.prefersEventStream
    }
}
