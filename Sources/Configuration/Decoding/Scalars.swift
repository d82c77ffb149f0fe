import GatewayTypes

/// Typed reading of scalars. The field decides what a scalar is; quotes change nothing, and nothing is converted
/// silently: `no`, `0755`, `1e3` and `1_000` are words until a field asks for something else, and then an error.
extension YAMLNode {
    /// The text of a scalar that is not empty and has no control characters.
    func text(
        _ what: String, advice: String, maxBytes: Int = 255, multiline: Bool = false, _ diagnostics: Diagnostics
    ) -> String? {
        guard case .scalar(let text, _) = self.content, !text.isEmpty else {
            let message =
                if case .scalar = self.content { "\(what) is empty" } else {
                    "\(what) is \(self.kindName) where a single value belongs"
                }
            diagnostics.error(self.position, message, advice)
            return nil
        }
        guard text.utf8.count <= maxBytes else {
            diagnostics.error(self.position, "\(what) is longer than \(maxBytes) bytes", advice)
            return nil
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || multiline && ($0 == 0x0A || $0 == 0x09) }) else {
            diagnostics.error(self.position, "\(what) holds control characters or line breaks", advice)
            return nil
        }
        return text
    }

    /// `true` or `false`.
    func boolean(_ what: String, _ diagnostics: Diagnostics) -> Bool? {
        let advice = "write true or false"
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        if text == "true" { return true }
        if text == "false" { return false }
        diagnostics.error(self.position, "\(quoted(text)) is neither true nor false", advice)
        return nil
    }

    /// A whole number in plain decimal digits.
    func integer(_ what: String, in range: ClosedRange<Int>, _ diagnostics: Diagnostics) -> Int? {
        let advice = "write a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        guard let value = Digits.integer(text) else {
            diagnostics.error(self.position, "\(what) is \(quoted(text)), which is not a plain whole number", advice)
            return nil
        }
        guard range.contains(value) else {
            diagnostics.error(self.position, "\(what) is \(value), out of range", advice)
            return nil
        }
        return value
    }

    /// A decimal number such as `0.2`; no exponents.
    func decimal(_ what: String, in range: ClosedRange<Double>, _ diagnostics: Diagnostics) -> Double? {
        let advice = "write a decimal number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let isPlain =
            Digits.integer(parts[0]) != nil && text.utf8.count <= 20
            && (parts.count == 1 || !parts[1].isEmpty && parts[1].utf8.allSatisfy(Digits.isDigit))
        guard isPlain, let value = Double(text) else {
            diagnostics.error(self.position, "\(what) is \(quoted(text)), which is not a decimal number", advice)
            return nil
        }
        guard range.contains(value) else {
            diagnostics.error(self.position, "\(what) is \(text), out of range", advice)
            return nil
        }
        return value
    }

    /// A whole number with its unit: `250ms`, `30s`, `5m`, `1h`, `1d`.
    func duration(_ what: String, in range: ClosedRange<TimeSpan>, _ diagnostics: Diagnostics) -> TimeSpan? {
        let bounds = "from \(Units.text(of: range.lowerBound)) to \(Units.text(of: range.upperBound))"
        let advice = "write a duration with its unit \(bounds), such as 250ms, 30s, 5m, 1h or 1d"
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        guard let value = Units.duration(text) else {
            diagnostics.error(self.position, "\(what) is \(quoted(text)), which is not a duration", advice)
            return nil
        }
        guard range.contains(value) else {
            diagnostics.error(self.position, "\(what) is \(text), out of range", advice)
            return nil
        }
        return value
    }

    /// Bytes: a whole number alone or with B, KB, MB, KiB or MiB.
    func byteSize(_ what: String, in range: ClosedRange<Int>, _ diagnostics: Diagnostics) -> Int? {
        let advice = "write a size from \(range.lowerBound) to \(range.upperBound) bytes, such as 65536, 64KiB or 1MiB"
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        guard let value = Units.bytes(text) else {
            diagnostics.error(self.position, "\(what) is \(quoted(text)), which is not a size", advice)
            return nil
        }
        guard range.contains(value) else {
            diagnostics.error(self.position, "\(what) is \(text), out of range", advice)
            return nil
        }
        return value
    }

    /// One word of a closed set.
    func word<Value: RawRepresentable & CaseIterable>(
        _ what: String, of: Value.Type, _ diagnostics: Diagnostics
    ) -> Value? where Value.RawValue == String {
        self.word(what, among: Value.allCases.map(\.rawValue), diagnostics).flatMap(Value.init(rawValue:))
    }

    /// One of the known words.
    ///
    /// - Parameter advice: nil names the words.
    func word(_ what: String, among known: [String], advice: String? = nil, _ diagnostics: Diagnostics) -> String? {
        let advice = advice ?? "write one of \(listed(known))"
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        if known.contains(where: { $0.utf8.elementsEqual(text.utf8) }) { return text }
        if let near = diagnostics.nearest(to: text, among: known) {
            diagnostics.error(
                self.position, "unknown \(what) \(quoted(text)), did you mean `\(near)`?", "write `\(near)`")
        } else {
            diagnostics.error(self.position, "unknown \(what) \(quoted(text))", advice)
        }
        return nil
    }

    /// A name of our own: ASCII letters, digits, `.`, `_` and `-`, at most 64.
    func name(_ what: String, _ diagnostics: Diagnostics) -> String? {
        let advice = Names.advice
        guard let text = self.text(what, advice: advice, diagnostics) else { return nil }
        guard Names.isName(text) else {
            diagnostics.error(self.position, "\(what) is \(quoted(text)), which is not a name", advice)
            return nil
        }
        return text
    }

    /// A name that must be one of those known, such as a plan's.
    func reference(
        _ what: String, to known: KnownNames, definedUnder key: String, _ diagnostics: Diagnostics
    ) -> String? {
        guard let name = self.name(what, diagnostics) else { return nil }
        if known.contains(name) { return name }
        if let near = diagnostics.nearest(to: name, among: known.list) {
            diagnostics.error(
                self.position, "there is no \(what) \(quoted(name)), did you mean `\(near)`?",
                "write `\(near)` or define it under `\(key)`")
        } else {
            let names = listed(known.list.prefix(20))
            let choice = names.isEmpty ? "" : "write one of \(names) or "
            diagnostics.error(
                self.position, "there is no \(what) \(quoted(name))", "\(choice)define it under `\(key)`")
        }
        return nil
    }
}

/// The names that a reference may use, in the order of the file.
struct KnownNames {
    let list: [String]
    private let set: Set<String>

    init(_ list: [String]) {
        self.list = list
        self.set = Set(list)
    }

    func contains(_ name: String) -> Bool { self.set.contains(name) }
}

/// Names of tenants, plans, tasks and providers.
enum Names {
    static let advice = "write 1 to 64 letters (a to z), digits, `.`, `_` or `-`, beginning with a letter or digit"

    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 64, self.isWord(first) else { return false }
        return text.utf8.allSatisfy { self.isWord($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
    }

    /// What names of time zones are made of; no dots, so that none is a path upwards.
    static func isZoneSign(_ byte: UInt8) -> Bool {
        self.isWord(byte) || byte == 0x2F || byte == 0x5F || byte == 0x2D || byte == 0x2B
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        Digits.isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
