import GatewayTypes

/// Whole numbers in plain decimal digits.
enum Digits {
    static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Nil for signs, leading zeros, underscores, exponents and what does not fit.
    static func integer(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8
        guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy(self.isDigit) else { return nil }
        guard digits.count == 1 || digits.first != 0x30 else { return nil }
        return Int(text)
    }

    /// The digits in front and the unit behind them.
    static func split(_ text: String) -> (number: Int, unit: Substring)? {
        let digits = text.utf8.prefix(while: self.isDigit).count
        guard let number = self.integer(text.prefix(digits)) else { return nil }
        return (number, text.dropFirst(digits))
    }
}

/// Durations and sizes as configuration writes them.
enum Units {
    private static let durations: [(unit: String, nanoseconds: Int64)] = [
        ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ]

    private static let sizes: [(unit: String, bytes: Int)] = [
        ("", 1), ("B", 1), ("KB", 1000), ("KiB", 1024), ("MB", 1_000_000), ("MiB", 1_048_576),
    ]

    static func duration(_ text: String) -> TimeSpan? {
        guard let (number, unit) = Digits.split(text),
            let scale = self.durations.first(where: { $0.unit == unit })?.nanoseconds
        else { return nil }
        let (product, overflow) = Int64(number).multipliedReportingOverflow(by: scale)
        return overflow ? nil : TimeSpan(nanoseconds: product)
    }

    static func bytes(_ text: String) -> Int? {
        guard let (number, unit) = Digits.split(text), let scale = self.sizes.first(where: { $0.unit == unit })?.bytes
        else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: scale)
        return overflow ? nil : product
    }

    /// A duration in the largest unit that divides it; what `duration` reads back.
    static func text(of span: TimeSpan) -> String {
        guard span.nanoseconds != 0 else { return "0s" }
        let fitting = self.durations.last { span.nanoseconds % $0.nanoseconds == 0 } ?? self.durations[0]
        return "\(span.nanoseconds / fitting.nanoseconds)\(fitting.unit)"
    }
}
