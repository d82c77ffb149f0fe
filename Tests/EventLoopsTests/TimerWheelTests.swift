import GatewayTypes
import Testing

@testable import EventLoops

/// The wheel as a loop uses it, on a clock that the test moves.
private struct TurnedWheel {
    var now: MonotonicTime
    var wheel: TimerWheel

    init(at milliseconds: Int64 = 1000) {
        self.now = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
        self.wheel = TimerWheel(now: self.now)
    }

    mutating func arm(_ timer: LoopTimer, after span: TimeSpan) { self.wheel.arm(timer, at: self.now + span) }

    /// Moves on, and gives the timers that fire there.
    mutating func advance(by span: TimeSpan) -> [LoopTimer] {
        self.now = self.now + span
        var fired: [LoopTimer] = []
        while let timer = self.wheel.popDue(now: self.now) { fired.append(timer) }
        return fired
    }

    /// Goes from wake to wake as a loop does until the timer fires; nil when the wheel has nothing more to wait for.
    mutating func wait(for timer: LoopTimer) -> MonotonicTime? {
        while let wake = self.wheel.nextWake() {
            if self.advance(by: max(TimeSpan.seconds(0), wake - self.now)).contains(where: { $0 === timer }) {
                return self.now
            }
        }
        return nil
    }
}

@Suite("Timer wheel")
struct TimerWheelTests {
    static let slot = TimeSpan(nanoseconds: TimerWheel.tickNanoseconds)

    @Test(arguments: [
        TimeSpan.seconds(0), .milliseconds(1), .milliseconds(8), .milliseconds(9), .milliseconds(8191),
        .milliseconds(8192), .milliseconds(8193), .milliseconds(16_384), .milliseconds(16_400), .seconds(60),
        .seconds(3600), .seconds(6 * 3600),
    ])
    func `A timer fires at its deadline or within a slot, however far away`(span: TimeSpan) throws {
        for start in [Int64(1000), 1001, 1007, 8191, 123_456_789] {
            var turned = TurnedWheel(at: start)
            let timer = LoopTimer()
            let deadline = turned.now + span
            turned.arm(timer, after: span)
            #expect(timer.isArmed)
            let end = turned.wait(for: timer)
            let fired = try #require(end)
            #expect(fired >= deadline)
            #expect(fired - deadline <= Self.slot)
            #expect(!timer.isArmed && turned.wheel.count == 0 && turned.wheel.nextWake() == nil)
        }
    }

    @Test func `A far deadline is not seen early by a loop that looks all the time`() {
        var turned = TurnedWheel()
        let timer = LoopTimer()
        let deadline = turned.now + .seconds(40)
        turned.arm(timer, after: .seconds(40))
        var fired: [LoopTimer] = []
        while fired.isEmpty, turned.now < deadline + .seconds(1) { fired = turned.advance(by: .milliseconds(3)) }
        #expect(fired.count == 1)
        #expect(turned.now >= deadline)
        #expect(turned.now - deadline < Self.slot + .milliseconds(3))
    }

    @Test func `What was armed long ago fires at once after a long sleep`() {
        var turned = TurnedWheel()
        let near = LoopTimer()
        let far = LoopTimer()
        turned.arm(near, after: .seconds(1))
        turned.arm(far, after: .seconds(3600 * 24))
        #expect(turned.advance(by: .seconds(3600 * 5)).map(ObjectIdentifier.init) == [ObjectIdentifier(near)])
        turned.arm(near, after: .milliseconds(20))
        #expect(turned.advance(by: .milliseconds(28)).count == 1)
        #expect(turned.advance(by: .seconds(3600 * 20)).map(ObjectIdentifier.init) == [ObjectIdentifier(far)])
    }

    @Test func `An empty wheel that slept takes new timers`() {
        var turned = TurnedWheel()
        #expect(turned.advance(by: .seconds(100_000)).isEmpty)
        let timer = LoopTimer()
        turned.arm(timer, after: .milliseconds(100))
        #expect(turned.advance(by: .milliseconds(99)).isEmpty)
        #expect(turned.advance(by: .milliseconds(9)).count == 1)
    }

    @Test(arguments: [(100, 900), (900, 100), (100, 30_000), (30_000, 100), (20_000, 19_000)] as [(Int64, Int64)])
    func `Moving a timer later or earlier leaves one firing`(first: Int64, second: Int64) {
        var turned = TurnedWheel()
        let timer = LoopTimer()
        turned.arm(timer, after: .milliseconds(first))
        turned.arm(timer, after: .milliseconds(second))
        #expect(turned.wheel.count == 1)
        #expect(turned.advance(by: .milliseconds(second - 1)).isEmpty)
        #expect(turned.advance(by: .milliseconds(9)).count == 1)
        #expect(turned.advance(by: .seconds(100)).isEmpty)
    }

    @Test func `A cancelled timer stays silent and can be armed again`() {
        var turned = TurnedWheel()
        let timer = LoopTimer()
        turned.arm(timer, after: .milliseconds(100))
        turned.wheel.cancel(timer)
        #expect(!timer.isArmed)
        turned.arm(timer, after: .milliseconds(50))
        #expect(timer.isArmed)
        #expect(turned.advance(by: .milliseconds(60)).count == 1)
        turned.arm(timer, after: .milliseconds(50))
        turned.wheel.cancel(timer)
        #expect(turned.advance(by: .seconds(20)).isEmpty)
        #expect(turned.wheel.count == 0)
    }

    @Test func `A removed timer is let go at once`() {
        var turned = TurnedWheel()
        weak var kept: LoopTimer?
        do {
            let timer = LoopTimer()
            kept = timer
            turned.arm(timer, after: .seconds(30))
            turned.wheel.remove(timer)
            turned.wheel.remove(timer)
            #expect(!timer.isArmed)
        }
        #expect(kept == nil)
        #expect(turned.wheel.count == 0 && turned.wheel.nextWake() == nil)
    }

    @Test(arguments: 1...40)
    func `Any mix of arming, moving, cancelling and removing does what a plain list does`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var turned = TurnedWheel(at: Int64.random(in: 0...1_000_000, using: &random))
        let timers = (0..<60).map { _ in LoopTimer() }
        var deadlines: [Int: MonotonicTime] = [:]
        for _ in 0..<1500 {
            let index = Int.random(in: 0..<timers.count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                let span = Self.span(using: &random)
                turned.arm(timers[index], after: span)
                // What is past already is as good as now.
                deadlines[index] = turned.now + max(span, .seconds(0))
            case 5:
                turned.wheel.cancel(timers[index])
                deadlines[index] = nil
            case 6:
                turned.wheel.remove(timers[index])
                deadlines[index] = nil
            default:
                Self.advance(&turned, by: Self.step(turned, using: &random), timers, &deadlines)
            }
            let wrong = timers.indices.filter { timers[$0].isArmed != (deadlines[$0] != nil) }
            #expect(wrong.isEmpty)
            Self.checkWake(turned, deadlines)
        }
    }

    /// Spans of every size, within a slot, a round and many rounds, some already past.
    private static func span(using random: inout SeededNumbers) -> TimeSpan {
        let bounds: [Int64] = [20_000_000, 300_000_000, 9_000_000_000, 120_000_000_000]
        let bound = bounds[Int.random(in: 0..<bounds.count, using: &random)]
        return TimeSpan(nanoseconds: Int64.random(in: -10_000_000...bound, using: &random))
    }

    /// How long the loop waits: to its next wake, or until something else wakes it earlier, or too long.
    private static func step(_ turned: TurnedWheel, using random: inout SeededNumbers) -> TimeSpan {
        let wake = max(0, (turned.wheel.nextWake().map { $0 - turned.now } ?? .seconds(1)).nanoseconds)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return TimeSpan(nanoseconds: wake)
        case 1: return TimeSpan(nanoseconds: Int64.random(in: 0...wake, using: &random))
        default: return TimeSpan(nanoseconds: wake + Int64.random(in: 0...30_000_000_000, using: &random))
        }
    }

    private static func advance(
        _ turned: inout TurnedWheel, by span: TimeSpan, _ timers: [LoopTimer], _ deadlines: inout [Int: MonotonicTime]
    ) {
        for timer in turned.advance(by: span) {
            guard let index = timers.firstIndex(where: { $0 === timer }), let deadline = deadlines[index] else {
                Issue.record("a timer fired that was not armed")
                continue
            }
            #expect(deadline <= turned.now, "early")
            deadlines[index] = nil
        }
        #expect(deadlines.values.allSatisfy { $0 + Self.slot >= turned.now }, "late")
    }

    /// The wheel never lets the loop sleep past a deadline by more than a slot.
    private static func checkWake(_ turned: TurnedWheel, _ deadlines: [Int: MonotonicTime]) {
        guard let first = deadlines.values.min() else { return }
        guard let wake = turned.wheel.nextWake() else {
            Issue.record("nothing to wake for, though a timer waits")
            return
        }
        #expect(wake <= max(first, turned.now) + Self.slot)
    }
}
