package import GatewayTypes

extension [UInt8] {
    /// Appends the time as RFC 3339 in UTC with milliseconds, such as `2026-11-30T01:18:05.042Z`.
    package mutating func append(timestamp time: WallTime) {
        self.append(addingCapacity: 2 &* Decimal.mostPlaces &+ 17) { $0.append(timestamp: time) }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func append(timestamp time: WallTime) {
        let seconds = time.seconds
        let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let second = seconds - day * 86_400
        let date = civilDate(daysSinceEpoch: day)
        self.append(decimal: date.year, width: 4)
        self.append(UInt8(ascii: "-"))
        self.append(twoDigits: date.month)
        self.append(UInt8(ascii: "-"))
        self.append(twoDigits: date.day)
        self.append(UInt8(ascii: "T"))
        self.append(twoDigits: second / 3600)
        self.append(UInt8(ascii: ":"))
        self.append(twoDigits: second / 60 % 60)
        self.append(UInt8(ascii: ":"))
        self.append(twoDigits: second % 60)
        self.append(UInt8(ascii: "."))
        self.append(decimal: (time.microseconds - seconds * 1_000_000) / 1000, width: 3)
        self.append(UInt8(ascii: "Z"))
    }

    private mutating func append(twoDigits value: Int64) {
        self.append(48 &+ UInt8(truncatingIfNeeded: value / 10))
        self.append(48 &+ UInt8(truncatingIfNeeded: value % 10))
    }
}

/// The Gregorian date of a day, counted in eras of 400 years that begin on 1 March, so that the leap day comes last.
private func civilDate(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = daysSinceEpoch + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}
