import Foundation
import GatewayTypes
import Testing

/// Days of real zones, compared with Foundation where it agrees on what a day is, and with hand-worked instants.
@Suite struct ZoneCalendarTests {
    /// The table that a loader would make: the zone's offset now and at each change within the years.
    static func table(_ name: String, from: Int64, to: Int64) throws -> (ZoneCalendar, TimeZone) {
        let zone = try #require(TimeZone(identifier: name))
        let start = Date(timeIntervalSince1970: Double(from))
        var transitions: [ZoneCalendar.Transition] = []
        var date = start
        while let next = zone.nextDaylightSavingTimeTransition(after: date), Int64(next.timeIntervalSince1970) < to {
            transitions.append(
                .init(
                    instant: Int64(next.timeIntervalSince1970.rounded()),
                    offsetSeconds: zone.secondsFromGMT(for: next + 1)))
            date = next + 1
        }
        return (ZoneCalendar(offsetSeconds: zone.secondsFromGMT(for: start), transitions: transitions), zone)
    }

    static let from: Int64 = 1_704_067_200  // 2024-01-01
    static let to: Int64 = 1_830_297_600  // 2028-01-01

    @Test(arguments: [
        "UTC", "Asia/Tehran", "Asia/Kathmandu", "America/New_York", "Europe/Berlin", "America/Santiago",
        "America/Havana", "Australia/Lord_Howe", "Pacific/Chatham", "Africa/Cairo", "Asia/Beirut",
    ])
    func agreesWithFoundation(name: String) throws {
        let (calendar, zone) = try Self.table(name, from: Self.from, to: Self.to)
        var foundation = Calendar(identifier: .gregorian)
        foundation.timeZone = zone
        var second = Self.from + 7
        // A step that is no divisor of a day walks over every hour of it.
        while second < Self.to - 86_400 * 2 {
            let date = Date(timeIntervalSince1970: Double(second))
            let parts = foundation.dateComponents([.year, .month, .day], from: date)
            let start = foundation.startOfDay(for: date)
            let end = try #require(foundation.dateInterval(of: .day, for: date)).end
            let day = calendar.day(at: WallTime(seconds: second))
            try #require(
                day.number == (parts.year ?? 0) * 10_000 + (parts.month ?? 0) * 100 + (parts.day ?? 0), "\(date)")
            try #require(day.startsAt == Int64(start.timeIntervalSince1970), "\(date)")
            try #require(day.endsAt == Int64(end.timeIntervalSince1970), "\(date)")
            second += 9_437
        }
    }

    struct Length: Sendable {
        let zone: String
        let instant: Int64
        let number: Int
        let hours: Int
    }

    @Test(arguments: [
        Length(zone: "Europe/Berlin", instant: 1_774_782_000, number: 20_260_329, hours: 23),
        Length(zone: "Europe/Berlin", instant: 1_792_922_400, number: 20_261_025, hours: 25),
        Length(zone: "America/New_York", instant: 1_772_989_200, number: 20_260_308, hours: 23),
        Length(zone: "America/New_York", instant: 1_793_548_800, number: 20_261_101, hours: 25),
        Length(zone: "America/Santiago", instant: 1_788_700_000, number: 20_260_906, hours: 23),
    ])
    func changeDaysHaveTheirTrueLength(row: Length) throws {
        let (calendar, _) = try Self.table(row.zone, from: Self.from, to: Self.to)
        let day = calendar.day(at: WallTime(seconds: row.instant))
        #expect(day.number == row.number)
        #expect(day.endsAt - day.startsAt == Int64(row.hours) * 3600)
    }

    @Test func dayWithoutMidnightStartsAtItsFirstInstant() throws {
        // Chile goes from 24:00 to 01:00: 2026-09-06 starts at 04:00Z, which is 01:00 local.
        let (calendar, _) = try Self.table("America/Santiago", from: Self.from, to: Self.to)
        let change: Int64 = 1_788_667_200
        #expect(calendar.offsetSeconds(at: WallTime(seconds: change - 1)) == -4 * 3600)
        #expect(calendar.offsetSeconds(at: WallTime(seconds: change)) == -3 * 3600)
        #expect(calendar.day(at: WallTime(seconds: change - 1)).number == 20_260_905)
        let day = calendar.day(at: WallTime(seconds: change))
        #expect(day.number == 20_260_906)
        #expect(day.startsAt == change)
        #expect(calendar.day(at: WallTime(seconds: change - 1)).endsAt == change)
    }

    @Test func dayWithTwoMidnightsStartsAtTheFirst() {
        // One o'clock becomes midnight again, as in Havana and on the Azores: both midnights are of the same date.
        let change: Int64 = 10 * 86_400 + 5 * 3600
        let calendar = ZoneCalendar(
            offsetSeconds: -4 * 3600, transitions: [.init(instant: change, offsetSeconds: -5 * 3600)])
        for second in [change - 3600, change - 1, change, change + 3600] {
            let day = calendar.day(at: WallTime(seconds: second))
            #expect(day.number == 19_700_111)
            #expect(day.startsAt == change - 3600)
            #expect(day.endsAt == change + 24 * 3600)
        }
        #expect(calendar.day(at: WallTime(seconds: change - 3601)).number == 19_700_110)
    }

    @Test func dayThatHasBegunIsNotUndoneByTheClock() {
        // One past midnight the clock falls back to 23:01, as once in Newfoundland: the date shows the old day again.
        let change: Int64 = 10 * 86_400 + 3600 + 60
        let calendar = ZoneCalendar(offsetSeconds: -3600, transitions: [.init(instant: change, offsetSeconds: -7200)])
        #expect(calendar.day(at: WallTime(seconds: change - 61)).number == 19_700_110)
        for second in [change - 60, change, change + 1800, change + 7200] {
            let day = calendar.day(at: WallTime(seconds: second))
            #expect(day.number == 19_700_111)
            #expect(day.startsAt == change - 60)
            #expect(day.endsAt == 11 * 86_400 + 7200)
        }
    }

    @Test func skippedDateIsNoDay() {
        // Crossing the date line at midnight leaves a date out, as in Samoa at the end of 2011.
        let change: Int64 = 10 * 86_400 + 10 * 3600
        let calendar = ZoneCalendar(
            offsetSeconds: -10 * 3600, transitions: [.init(instant: change, offsetSeconds: 14 * 3600)])
        let before = calendar.day(at: WallTime(seconds: change - 1))
        #expect(before.number == 19_700_110)
        #expect(before.endsAt == change)
        let after = calendar.day(after: before)
        #expect(after.number == 19_700_112)
        #expect(after.startsAt == change)
        #expect(after.endsAt == change + 86_400)
    }

    @Test func daysFollowEachOtherWithoutGaps() throws {
        for name in ["America/Santiago", "America/Havana", "Asia/Tehran", "Atlantic/Azores"] {
            let (calendar, _) = try Self.table(name, from: 946_684_800, to: Self.to)
            var day = calendar.day(at: WallTime(seconds: 946_684_800))
            for _ in 0..<9000 {
                let next = calendar.day(after: day)
                try #require(next.startsAt == day.endsAt)
                try #require(next.number > day.number)
                try #require(calendar.day(at: WallTime(seconds: next.endsAt - 1)) == next)
                day = next
            }
        }
    }

    @Test func tableNeedNotBeSortedAndMayRepeat() {
        let plain = ZoneCalendar(
            offsetSeconds: 0,
            transitions: [.init(instant: 100, offsetSeconds: 60), .init(instant: 200, offsetSeconds: 0)])
        let shuffled = ZoneCalendar(
            offsetSeconds: 0,
            transitions: [
                .init(instant: 200, offsetSeconds: 5), .init(instant: 100, offsetSeconds: 60),
                .init(instant: 200, offsetSeconds: 0),
            ])
        #expect(plain == shuffled)
    }

    @Test func absurdTablesAndTimesDoNotTrap() {
        let calendar = ZoneCalendar(
            offsetSeconds: .max,
            transitions: [.init(instant: .min, offsetSeconds: .min), .init(instant: .max, offsetSeconds: .max)])
        for microseconds in [-9_000_000_000_000_000_000, -1, 0, 1, 9_000_000_000_000_000_000] as [Int64] {
            let day = calendar.day(at: WallTime(microseconds: microseconds))
            #expect(day.startsAt < day.endsAt)
        }
    }

    @Test func waitForTheTurnIsRoundedUpAndPositive() {
        let day = LocalDay(number: 19_700_101, startsAt: 0, endsAt: 86_400)
        #expect(day.secondsLeft(at: WallTime(seconds: 86_390)) == 10)
        #expect(day.secondsLeft(at: WallTime(microseconds: 86_389_000_001)) == 11)
        #expect(day.secondsLeft(at: WallTime(microseconds: 86_399_999_999)) == 1)
        #expect(day.secondsLeft(at: WallTime(seconds: 90_000)) == 1)
        #expect(day.contains(WallTime(seconds: 86_399)))
        #expect(!day.contains(WallTime(seconds: 86_400)))
    }
}
