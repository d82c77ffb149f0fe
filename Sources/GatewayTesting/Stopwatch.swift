package import GatewayTypes
import Glibc

/// Real time that has passed, for deadlines of tests that talk to real sockets and processes.
package struct Stopwatch: Sendable {
    private let start: MonotonicTime

    package init() { self.start = Self.now() }

    /// What the machine's monotonic clock says.
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Whole seconds since 1970, as tokens need them.
    package static func wallSeconds() -> Int { time(nil) }

    package var elapsed: TimeSpan { Self.now() - self.start }
    package var milliseconds: Int { Int(self.elapsed.inMilliseconds) }

    /// Suspends the calling thread; only for threads that nobody else needs.
    package static func sleep(milliseconds: Int) {
        var left = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
        var rest = timespec()
        while nanosleep(&left, &rest) != 0 && errno == EINTR { left = rest }
    }

    /// Asks again every few milliseconds until the condition holds; false when the time is up first.
    package static func wait(
        upTo limit: TimeSpan, every milliseconds: Int = 5, until condition: () throws -> Bool
    ) rethrows -> Bool {
        let watch = Stopwatch()
        while true {
            if try condition() { return true }
            if watch.elapsed > limit { return false }
            self.sleep(milliseconds: milliseconds)
        }
    }
}
