import GatewayTypes

/// Points in time as RFC 3339 writes them.
enum Instant {
    /// Reads `2026-03-21T04:00:00Z`, with a fraction or an offset where one stands; nil for anything else.
    ///
    /// A leap second is taken for the second after it; a fraction is kept to the microsecond.
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74,
            bytes[13] == 0x3A, bytes[16] == 0x3A, let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
            let second = number(bytes[17..<19]), (1...12).contains(month), day >= 1,
            day <= days(in: month, of: year), hour < 24, minute < 60, second <= 60
        else { return nil }
        var rest = bytes[19...]
        guard let fraction = self.fraction(&rest), let offset = self.offset(rest) else { return nil }
        let seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return WallTime(microseconds: seconds * 1_000_000 + fraction)
    }

    /// Microseconds of `.25`; 0 where no fraction stands.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == 0x2E else { return 0 }
        let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(1 + digits.count)
        var value = self.number(digits.prefix(6)) ?? 0
        for _ in digits.prefix(6).count..<6 { value *= 10 }
        return value
    }

    /// Seconds east of Greenwich.
    private static func offset(_ rest: ArraySlice<UInt8>) -> Int64? {
        let text = Array(rest)
        if text.count == 1, text[0] | 0x20 == 0x7A { return 0 }
        guard text.count == 6, text[0] == 0x2B || text[0] == 0x2D, text[3] == 0x3A, let hours = number(text[1..<3]),
            let minutes = number(text[4..<6]), hours < 24, minutes < 60
        else { return nil }
        return (text[0] == 0x2D ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    /// A number of a few plain digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit), value < 100_000_000 else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 1970-01-01 in the Gregorian calendar, counted in eras of 400 years that begin on 1 March.
    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
