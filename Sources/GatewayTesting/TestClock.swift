package import GatewayTypes
import Synchronization

/// A clock that stands still until a test turns it. Both clocks move together.
package final class TestClock: GatewayTypes.Clock {
    private let state: Mutex<(wall: WallTime, monotonic: MonotonicTime)>

    /// - Parameter wall: where the calendar clock starts; the monotonic one starts at one second.
    package init(wall: WallTime = WallTime(seconds: 1_750_000_000)) {
        self.state = Mutex((wall, MonotonicTime(nanoseconds: 1_000_000_000)))
    }

    package func wallTime() -> WallTime { self.state.withLock { $0.wall } }
    package func monotonicTime() -> MonotonicTime { self.state.withLock { $0.monotonic } }

    package func advance(by span: TimeSpan) {
        self.state.withLock {
            $0.wall = $0.wall + span
            $0.monotonic = $0.monotonic + span
        }
    }

    /// Sets the calendar clock alone, as an operator or a time server would.
    package func set(wall: WallTime) { self.state.withLock { $0.wall = wall } }
}
