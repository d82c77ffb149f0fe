/// The `Date` of responses in IMF-fixdate (RFC 9110 §5.6.7); renders anew only when the second changes.
package struct HTTPDate: Sendable {
    /// The last second of the year 9999.
    private static let lastSecond: Int64 = 253_402_300_799
    private static let secondsPerDay: Int64 = 86400

    private var second: Int64 = -1
    private var text: [UInt8] = []

    package init() {}

    /// Appends the 29 bytes for a point in seconds since 1970; times before 1970 or after 9999 are moved inside.
    package mutating func append(seconds: Int64, to output: inout [UInt8]) {
        let second = min(max(seconds, 0), Self.lastSecond)
        if second != self.second {
            self.second = second
            self.text.removeAll(keepingCapacity: true)
            Self.render(second, to: &self.text)
        }
        output.append(contentsOf: self.text)
    }

    private static func render(_ second: Int64, to output: inout [UInt8]) {
        let days = second / self.secondsPerDay
        let rest = Int(second % self.secondsPerDay)
        let (year, month, day) = self.civil(days)
        MessageWriter.append(self.dayName(Int((days &+ 4) % 7)), to: &output)
        MessageWriter.append(", ", to: &output)
        self.append(day, digits: 2, to: &output)
        output.append(Byte.space)
        MessageWriter.append(self.monthName(month), to: &output)
        output.append(Byte.space)
        self.append(year, digits: 4, to: &output)
        output.append(Byte.space)
        self.append(rest / 3600, digits: 2, to: &output)
        output.append(Byte.colon)
        self.append(rest / 60 % 60, digits: 2, to: &output)
        output.append(Byte.colon)
        self.append(rest % 60, digits: 2, to: &output)
        MessageWriter.append(" GMT", to: &output)
    }

    /// Year, month and day of a count of days since 1970, never negative.
    ///
    /// Counts from 1 March of the year 0, so that the leap day is the last of its year and of its 400 years.
    private static func civil(_ days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(days) &+ 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
        let monthFromMarch = (5 &* dayOfYear &+ 2) / 153
        let day = dayOfYear &- (153 &* monthFromMarch &+ 2) / 5 &+ 1
        let month = monthFromMarch < 10 ? monthFromMarch &+ 3 : monthFromMarch &- 9
        return (yearOfEra &+ era &* 400 &+ (month <= 2 ? 1 : 0), month, day)
    }

    private static func append(_ value: Int, digits: Int, to output: inout [UInt8]) {
        var divisor = digits == 4 ? 1000 : 10
        while divisor > 0 {
            output.append(Byte.zero &+ UInt8(truncatingIfNeeded: value / divisor % 10))
            divisor /= 10
        }
    }

    private static func dayName(_ day: Int) -> StaticString {
        switch day {
        case 0: "Sun"
        case 1: "Mon"
        case 2: "Tue"
        case 3: "Wed"
        case 4: "Thu"
        case 5: "Fri"
        default: "Sat"
        }
    }

    private static func monthName(_ month: Int) -> StaticString {
        switch month {
        case 1: "Jan"
        case 2: "Feb"
        case 3: "Mar"
        case 4: "Apr"
        case 5: "May"
        case 6: "Jun"
        case 7: "Jul"
        case 8: "Aug"
        case 9: "Sep"
        case 10: "Oct"
        case 11: "Nov"
        default: "Dec"
        }
    }
}
