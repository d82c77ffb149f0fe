/// A point on the monotonic clock, in nanoseconds; only differences mean something.
@frozen
package struct MonotonicTime: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64
    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
    @inlinable package static func <= (left: Self, right: Self) -> Bool { left.nanoseconds <= right.nanoseconds }
    @inlinable package static func >= (left: Self, right: Self) -> Bool { left.nanoseconds >= right.nanoseconds }
    @inlinable package static func > (left: Self, right: Self) -> Bool { left.nanoseconds > right.nanoseconds }
    @inlinable package static func - (left: Self, right: Self) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
    @inlinable package static func + (left: Self, right: TimeSpan) -> Self {
        Self(nanoseconds: left.nanoseconds + right.nanoseconds)
    }
}

/// A point on the calendar clock, in microseconds since 1970-01-01T00:00:00Z.
@frozen
package struct WallTime: Hashable, Sendable, Comparable {
    package var microseconds: Int64
    @inlinable package init(microseconds: Int64) { self.microseconds = microseconds }
    @inlinable package init(seconds: Int64) { self.microseconds = seconds * 1_000_000 }

    /// Whole seconds since 1970, rounded down.
    @inlinable package var seconds: Int64 {
        self.microseconds >= 0 ? self.microseconds / 1_000_000 : (self.microseconds - 999_999) / 1_000_000
    }

    @inlinable package static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }
    @inlinable package static func <= (left: Self, right: Self) -> Bool { left.microseconds <= right.microseconds }
    @inlinable package static func >= (left: Self, right: Self) -> Bool { left.microseconds >= right.microseconds }
    @inlinable package static func > (left: Self, right: Self) -> Bool { left.microseconds > right.microseconds }
    @inlinable package static func - (left: Self, right: Self) -> TimeSpan {
        TimeSpan(nanoseconds: (left.microseconds - right.microseconds) * 1000)
    }
    @inlinable package static func + (left: Self, right: TimeSpan) -> Self {
        Self(microseconds: left.microseconds + right.nanoseconds / 1000)
    }
}

/// A length of time, in nanoseconds.
@frozen
package struct TimeSpan: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64
    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static func seconds(_ value: Int64) -> Self { Self(nanoseconds: value * 1_000_000_000) }
    @inlinable package static func milliseconds(_ value: Int64) -> Self { Self(nanoseconds: value * 1_000_000) }
    @inlinable package static func microseconds(_ value: Int64) -> Self { Self(nanoseconds: value * 1000) }

    /// The span in seconds, for metrics and logs.
    @inlinable package var inSeconds: Double { Double(self.nanoseconds) / 1e9 }
    @inlinable package var inMilliseconds: Int64 { self.nanoseconds / 1_000_000 }

    @inlinable package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
    @inlinable package static func <= (left: Self, right: Self) -> Bool { left.nanoseconds <= right.nanoseconds }
    @inlinable package static func >= (left: Self, right: Self) -> Bool { left.nanoseconds >= right.nanoseconds }
    @inlinable package static func > (left: Self, right: Self) -> Bool { left.nanoseconds > right.nanoseconds }
    @inlinable package static func + (left: Self, right: Self) -> Self {
        Self(nanoseconds: left.nanoseconds + right.nanoseconds)
    }
    @inlinable package static func - (left: Self, right: Self) -> Self {
        Self(nanoseconds: left.nanoseconds - right.nanoseconds)
    }
}

/// Where time comes from, passed to whoever needs it so that tests can turn the clock.
///
/// `EventLoops` holds the one that reads the machine's clocks; `GatewayTesting` holds the one tests turn by hand.
package protocol Clock: Sendable {
    func wallTime() -> WallTime
    func monotonicTime() -> MonotonicTime
}
