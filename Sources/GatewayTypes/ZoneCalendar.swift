/// One calendar day in a tenant's zone, as UTC instants.
package struct LocalDay: Hashable, Sendable {
    /// The local date as `yyyymmdd`, for example 20260329; a stable key for the day's counter.
    package let number: Int
    /// First second of the day, since 1970 in UTC.
    package let startsAt: Int64
    /// First second of the next day, since 1970 in UTC; the day is 23 to 25 hours long in zones with summer time.
    package let endsAt: Int64

    package init(number: Int, startsAt: Int64, endsAt: Int64) {
        self.number = number
        self.startsAt = startsAt
        self.endsAt = endsAt
    }

    package func contains(_ time: WallTime) -> Bool { time.seconds >= self.startsAt && time.seconds < self.endsAt }

    /// Whole seconds until the day turns, rounded up; at least 1, also for a clock that has been turned past the day.
    package func secondsLeft(at time: WallTime) -> Int {
        // The turn is a whole second, so rounding the clock down rounds the wait up.
        Int(clamping: max(1, self.endsAt &- time.seconds))
    }
}

/// The days of one IANA zone, compiled to a table so that no request needs Foundation.
///
/// Configuration samples the zone's offsets when it loads; the last offset stands for all time after the table.
/// A day starts at the first instant whose local date is that day's or later: where midnight does not exist that is
/// the first valid instant, and where the clock falls back over midnight it is the first of the two midnights. So days
/// follow each other without gaps and a day that has begun never goes back.
package struct ZoneCalendar: Hashable, Sendable {
    /// From `instant` (seconds since 1970, UTC) the zone is `offsetSeconds` east of UTC.
    package struct Transition: Hashable, Sendable {
        package let instant: Int64
        package let offsetSeconds: Int

        package init(instant: Int64, offsetSeconds: Int) {
            self.instant = instant
            self.offsetSeconds = offsetSeconds
        }
    }

    /// A stretch of time with one offset.
    private struct Segment: Hashable, Sendable {
        var startsAt: Int64
        var offset: Int64
        /// The latest local day, counted from 1970-01-01, that was reached before this stretch.
        var reached: Int64
    }

    /// Sorted, never empty; the first one starts before all time.
    private let segments: [Segment]

    /// A zone without summer time.
    package static let utc = ZoneCalendar(offsetSeconds: 0)

    /// - Parameters:
    ///   - offsetSeconds: the offset before the first transition; taken as at most a day east or west.
    ///   - transitions: in any order; of two at one instant the later in the list counts.
    package init(offsetSeconds: Int, transitions: [Transition] = []) {
        var segments = [Segment(startsAt: Int64.min / 2, offset: Self.bounded(offsetSeconds), reached: Int64.min)]
        let ordered = transitions.enumerated().sorted { left, right in
            (left.element.instant, left.offset) < (right.element.instant, right.offset)
        }
        for (_, transition) in ordered {
            let instant = min(max(transition.instant, -Self.farthest), Self.farthest)
            let offset = Self.bounded(transition.offsetSeconds)
            let last = segments[segments.count - 1]
            if last.startsAt == instant {
                segments[segments.count - 1].offset = offset
            } else {
                let reached = max(last.reached, Self.dayIndex(ofLocalSecond: instant &- 1 &+ last.offset))
                segments.append(Segment(startsAt: instant, offset: offset, reached: reached))
            }
        }
        self.segments = segments
    }

    /// The local day that holds an instant.
    package func day(at time: WallTime) -> LocalDay {
        let second = time.seconds
        let index = self.segmentIndex(at: second)
        let segment = self.segments[index]
        let day = max(Self.dayIndex(ofLocalSecond: second &+ segment.offset), segment.reached)
        return LocalDay(
            number: Self.number(ofDay: day), startsAt: self.start(ofDay: day, atOrBefore: index),
            endsAt: self.start(ofDay: day &+ 1, atOrAfter: index))
    }

    /// The day after another day of this calendar.
    package func day(after day: LocalDay) -> LocalDay { self.day(at: WallTime(seconds: day.endsAt)) }

    /// The zone's offset at an instant, in seconds east of UTC.
    package func offsetSeconds(at time: WallTime) -> Int {
        Int(self.segments[self.segmentIndex(at: time.seconds)].offset)
    }

    private func segmentIndex(at second: Int64) -> Int {
        var low = 0
        var high = self.segments.count
        while high &- low > 1 {
            let middle = low &+ (high &- low) / 2
            if self.segments[middle].startsAt <= second { low = middle } else { high = middle }
        }
        return low
    }

    /// The first instant of a day that has begun in or before the given stretch.
    private func start(ofDay day: Int64, atOrBefore index: Int) -> Int64 {
        var index = index
        while index > 0 && self.segments[index].reached >= day { index &-= 1 }
        return max(self.segments[index].startsAt, day &* 86_400 &- self.segments[index].offset)
    }

    /// The first instant of a day that has not begun before the given stretch.
    private func start(ofDay day: Int64, atOrAfter index: Int) -> Int64 {
        var index = index
        while true {
            let candidate = max(self.segments[index].startsAt, day &* 86_400 &- self.segments[index].offset)
            let next = index &+ 1
            if next == self.segments.count || candidate < self.segments[next].startsAt { return candidate }
            index = next
        }
    }

    /// Some 35,000 years; as far as this, instants in microseconds fit an `Int64`.
    private static let farthest: Int64 = 1 << 40

    private static func bounded(_ offset: Int) -> Int64 { Int64(min(max(offset, -86_400), 86_400)) }

    private static func dayIndex(ofLocalSecond second: Int64) -> Int64 {
        second >= 0 ? second / 86_400 : (second &- 86_399) / 86_400
    }

    /// `yyyymmdd` of a day counted from 1970-01-01, by the proleptic Gregorian calendar.
    private static func number(ofDay day: Int64) -> Int {
        // Years are counted from March, so that the leap day is the last of its year, in eras of 400 years.
        let shifted = day &+ 719_468
        let era = (shifted >= 0 ? shifted : shifted &- 146_096) / 146_097
        let dayOfEra = shifted &- era &* 146_097
        let yearOfEra =
            (dayOfEra &- dayOfEra / 1460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
        let marchMonth = (5 &* dayOfYear &+ 2) / 153
        let dayOfMonth = dayOfYear &- (153 &* marchMonth &+ 2) / 5 &+ 1
        let month = marchMonth < 10 ? marchMonth &+ 3 : marchMonth &- 9
        let year = yearOfEra &+ era &* 400 &+ (month <= 2 ? 1 : 0)
        return Int(truncatingIfNeeded: year &* 10_000 &+ month &* 100 &+ dayOfMonth)
    }
}
