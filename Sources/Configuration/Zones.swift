import Foundation

/// The time zones that configuration may name.
enum Zones {
    static var names: [String] { TimeZone.knownTimeZoneIdentifiers }

    /// IANA names only: `EST` or `GMT+3` would be fixed offsets that no day of people follows.
    static func isKnown(_ name: String) -> Bool {
        guard name == "UTC" || name.utf8.contains(0x2F) else { return false }
        let isSafe = name.utf8.allSatisfy { Names.isZoneSign($0) }
        return isSafe && TimeZone(identifier: name) != nil
    }
}

/// When a zone's distance to UTC changes.
package enum ZoneTransitions {
    private static let day: Int64 = 86_400

    /// The distance to UTC in seconds from each moment on; the first entry is `start` itself.
    ///
    /// Samples each day and halves towards the second where two neighbours differ. Nil when the zone is not known.
    ///
    /// - Parameters:
    ///   - start: seconds since 1970 in UTC.
    ///   - years: of 366 days; at most 200 are looked at.
    package static func sample(_ zone: String, from start: Int64, years: Int) -> [(at: Int64, offset: Int)]? {
        guard Zones.isKnown(zone), let timeZone = TimeZone(identifier: zone) else { return nil }
        func offset(_ second: Int64) -> Int {
            timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
        }
        var result = [(at: start, offset: offset(start))]
        var before = (second: start, offset: result[0].offset)
        for number in 1...max(1, Int64(min(years, 200)) * 366) {
            let second = start &+ number &* self.day
            let current = offset(second)
            if current != before.offset {
                let at = self.firstSecond(after: before.second, upTo: second) { offset($0) != before.offset }
                result.append((at, offset(at)))
                // Two changes within a day: go on from the first.
                if offset(at) != current {
                    let next = self.firstSecond(after: at, upTo: second) { offset($0) == current }
                    result.append((next, current))
                }
            }
            before = (second, current)
        }
        return result
    }

    /// The first second in `(low, high]` for which the condition holds, given that it holds for `high`.
    private static func firstSecond(after low: Int64, upTo high: Int64, where holds: (Int64) -> Bool) -> Int64 {
        var low = low
        var high = high
        while high &- low > 1 {
            let middle = low &+ (high &- low) / 2
            if holds(middle) { high = middle } else { low = middle }
        }
        return high
    }
}
