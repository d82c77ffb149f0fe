import GatewayTypes

/// Tokens charged and reserved, by day of the tenant's zone.
///
/// Two days are kept: asks that run over midnight settle to the day of their reservation, and a clock that is turned
/// back finds the earlier day as it was.
struct DayCounter {
    struct Day {
        /// `LocalDay.number`; 0 for none.
        var number = 0
        /// Charged and reserved.
        var used = 0
        /// The part of `used` that running asks have reserved.
        var reserved = 0
    }

    private var one = Day()
    private var other = Day()

    func day(_ number: Int) -> Day {
        if self.one.number == number { return self.one }
        return self.other.number == number ? self.other : Day(number: number)
    }

    var newest: Day { self.one.number > self.other.number ? self.one : self.other }

    /// Nothing is charged or reserved on either day.
    var isEmpty: Bool { [self.one, self.other].allSatisfy { $0.used == 0 && $0.reserved == 0 } }

    mutating func reserve(_ tokens: Int, on number: Int) {
        self.change(number) { day in
            day.used = QuotaAsk.bounded(day.used &+ tokens)
            day.reserved = QuotaAsk.bounded(day.reserved &+ tokens)
        }
    }

    /// Turns a reservation into a charge; of a day that is no longer kept nothing is left to correct.
    mutating func settle(reserved: Int, charged: Int, on number: Int) {
        guard self.one.number == number || self.other.number == number else { return }
        self.change(number) { day in
            day.used = QuotaAsk.bounded(day.used &- reserved &+ charged)
            day.reserved = QuotaAsk.bounded(day.reserved &- reserved)
        }
    }

    /// Charges what was never reserved, unless the day is older than both that are kept.
    mutating func charge(_ tokens: Int, on number: Int) {
        guard number >= min(self.one.number, self.other.number) else { return }
        self.change(number) { $0.used = QuotaAsk.bounded($0.used &+ tokens) }
    }

    /// Sets usage to zero and keeps the days, so that running asks can still be charged to theirs.
    mutating func clear() {
        self.one = Day(number: self.one.number)
        self.other = Day(number: self.other.number)
    }

    /// Nothing is kept of the given days.
    func isIdle(_ days: (Int, Int)) -> Bool { Self.isIdle(self.one, days) && Self.isIdle(self.other, days) }

    private static func isIdle(_ day: Day, _ days: (Int, Int)) -> Bool {
        day.used == 0 || (day.number != days.0 && day.number != days.1)
    }

    private mutating func change(_ number: Int, _ body: (inout Day) -> Void) {
        if self.one.number == number {
            body(&self.one)
        } else if self.other.number == number {
            body(&self.other)
        } else if self.one.number < self.other.number {
            // The lower number goes: a clock that ran ahead for a moment costs no more than one kept day.
            self.one = Day(number: number)
            body(&self.one)
        } else {
            self.other = Day(number: number)
            body(&self.other)
        }
    }
}

/// The days whose usage still matters: the current one, and the one before it for an hour, in which the clock may yet
/// be turned back.
struct DaysInUse {
    private var newest = LocalDay(number: 0, startsAt: 0, endsAt: 0)
    private var before = 0

    mutating func see(_ day: LocalDay) {
        guard day != self.newest else { return }
        self.before = self.newest.number
        self.newest = day
    }

    /// Numbers of days; 0 for none.
    func numbers(at time: WallTime) -> (Int, Int) {
        let grace: Int64 = 3600
        return (
            time.seconds < self.newest.endsAt &+ grace ? self.newest.number : 0,
            time.seconds < self.newest.startsAt &+ grace ? self.before : 0
        )
    }
}
