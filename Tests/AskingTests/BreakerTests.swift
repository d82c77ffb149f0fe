import GatewayTypes
import Testing

@testable import Asking

@Suite("The breaker of a provider")
struct BreakerTests {
    private static let policy = Provider.BreakerPolicy(
        failures: 3, percent: 50, leastCalls: 10, window: .seconds(10), open: .seconds(2), longestOpen: .seconds(7))

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    /// A breaker that has opened at 0.
    private static func opened(_ policy: Provider.BreakerPolicy = policy) -> Breaker {
        var breaker = Breaker(policy)
        for _ in 0..<policy.failures { breaker.failed(.ordinary, at: Self.time(0)) }
        return breaker
    }

    @Test func `So many failures in a row open it, and one success between them does not`() {
        var policy = Self.policy
        policy.leastCalls = 100
        var breaker = Breaker(policy)
        for _ in 0..<4 {
            breaker.failed(.ordinary, at: Self.time(0))
            breaker.failed(.ordinary, at: Self.time(1))
            breaker.succeeded(.ordinary, at: Self.time(2))
        }
        #expect(breaker.state == .closed)
        for _ in 0..<3 { breaker.failed(.ordinary, at: Self.time(20_000)) }
        #expect(breaker.state == .open)
        #expect(breaker.pass(at: Self.time(21_000)) == nil && !breaker.mayPass(at: Self.time(21_999)))
    }

    @Test(arguments: [(5, 5, BreakerState.open), (4, 6, .closed)])
    func `The share of failures within the window opens it`(failures: Int, successes: Int, wanted: BreakerState) {
        var breaker = Breaker(Provider.BreakerPolicy(failures: 100, percent: 50, leastCalls: 10, window: .seconds(10)))
        for _ in 0..<successes { breaker.succeeded(.ordinary, at: Self.time(100)) }
        for _ in 0..<failures { breaker.failed(.ordinary, at: Self.time(200)) }
        #expect(breaker.state == wanted)
    }

    @Test func `Failures before the window do not count in the share`() {
        var breaker = Breaker(Provider.BreakerPolicy(failures: 100, percent: 50, leastCalls: 10, window: .seconds(10)))
        for _ in 0..<9 { breaker.failed(.ordinary, at: Self.time(0)) }
        breaker.failed(.ordinary, at: Self.time(10_001))
        #expect(breaker.state == .closed)
    }

    @Test func `Behind the pause one probe passes, and its success closes it`() {
        var breaker = Self.opened()
        #expect(breaker.mayPass(at: Self.time(2000)))
        #expect(breaker.pass(at: Self.time(2000)) == .probe)
        #expect(breaker.state == .halfOpen)
        #expect(breaker.pass(at: Self.time(2000)) == nil && !breaker.mayPass(at: Self.time(60_000)))
        breaker.succeeded(.probe, at: Self.time(2500))
        #expect(breaker.state == .closed && breaker.pass(at: Self.time(2500)) == .ordinary)
    }

    @Test func `Each probe that fails doubles the pause, up to the longest`() {
        var breaker = Self.opened()
        var now: Int64 = 0
        for seconds: Int64 in [2, 4, 7, 7] {
            #expect(breaker.wait(at: Self.time(now)) == .seconds(seconds))
            #expect(breaker.pass(at: Self.time(now + seconds * 1000 - 1)) == nil)
            now += seconds * 1000
            #expect(breaker.pass(at: Self.time(now)) == .probe)
            breaker.failed(.probe, at: Self.time(now))
            #expect(breaker.state == .open)
        }
        #expect(breaker.pass(at: Self.time(now + 7000)) == .probe)
        breaker.succeeded(.probe, at: Self.time(now + 7000))
        for _ in 0..<3 { breaker.failed(.ordinary, at: Self.time(now + 8000)) }
        #expect(breaker.wait(at: Self.time(now + 8000)) == .seconds(2))
    }

    @Test func `A probe whose ask left gives its place to the next`() {
        var breaker = Self.opened()
        #expect(breaker.pass(at: Self.time(2000)) == .probe)
        breaker.learntNothing(.probe)
        #expect(breaker.pass(at: Self.time(2001)) == .probe)
    }

    @Test func `Calls from before it opened decide nothing while it is open`() {
        var breaker = Self.opened()
        breaker.succeeded(.ordinary, at: Self.time(100))
        breaker.failed(.ordinary, at: Self.time(100))
        #expect(breaker.state == .open && breaker.wait(at: Self.time(0)) == .seconds(2))
        #expect(breaker.pass(at: Self.time(2000)) == .probe)
        breaker.succeeded(.ordinary, at: Self.time(2001))
        breaker.failed(.ordinary, at: Self.time(2001))
        #expect(breaker.state == .halfOpen)
    }

    @Test func `Turned off it never opens, and turning it off closes it`() {
        var off = Breaker(.off)
        for _ in 0..<1000 { off.failed(.ordinary, at: Self.time(0)) }
        #expect(off.pass(at: Self.time(0)) == .ordinary)
        var breaker = Self.opened()
        breaker.adopt(Provider.BreakerPolicy(failures: 9))
        #expect(breaker.state == .open)
        breaker.adopt(.off)
        #expect(breaker.state == .closed)
    }

    @Test func `A probe that is out when the configuration changes leaves the next one free`() {
        var breaker = Self.opened()
        #expect(breaker.pass(at: Self.time(2000)) == .probe && !breaker.mayPass(at: Self.time(2000)))
        // The old breaker is the one that will be told of the probe.
        var next = breaker
        next.adopt(Provider.BreakerPolicy(failures: 9))
        #expect(next.state == .halfOpen && next.pass(at: Self.time(2001)) == .probe)
        next.succeeded(.probe, at: Self.time(2002))
        #expect(next.state == .closed)
    }

    @Test func `Odd policies overflow nothing`() {
        let policy = Provider.BreakerPolicy(
            failures: 1, open: TimeSpan(nanoseconds: Int64.max / 4), longestOpen: TimeSpan(nanoseconds: Int64.max / 4))
        var breaker = Breaker(policy)
        breaker.failed(.ordinary, at: Self.time(0))
        for _ in 0..<40 {
            _ = breaker.pass(at: MonotonicTime(nanoseconds: Int64.max / 2))
            breaker.failed(.probe, at: Self.time(0))
        }
        #expect(breaker.state == .open)
    }
}

@Suite("The keys of a provider")
struct KeyRingTests {
    private static let now = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test func `Keys take turns`() {
        var ring = KeyRing(count: 3)
        #expect((0..<6).map { _ in ring.next(at: Self.now) } == [0, 1, 2, 0, 1, 2])
    }

    @Test func `A refused key is left alone for long, one over its limit as long as was said`() {
        var ring = KeyRing(count: 3)
        #expect(ring.refused(0, at: Self.now) == .seconds(600))
        #expect(ring.limited(1, seconds: 7, at: Self.now) == .seconds(7))
        #expect((0..<3).map { _ in ring.next(at: Self.now) } == [2, 2, 2])
        let later = Self.now + .seconds(7)
        #expect(Set((0..<4).map { _ in ring.next(at: later) }) == [1, 2])
        #expect(Set((0..<6).map { _ in ring.next(at: Self.now + .seconds(600)) }) == [0, 1, 2])
    }

    @Test func `With all set aside it says how long, and whether waiting helps`() {
        var ring = KeyRing(count: 2)
        _ = ring.refused(0, at: Self.now)
        _ = ring.limited(1, seconds: 7, at: Self.now)
        #expect(ring.next(at: Self.now) == nil && !ring.hasKey(at: Self.now) && !ring.areAllRefused)
        #expect(ring.wait(at: Self.now) == .seconds(7) && ring.spares(at: Self.now) == 0)
        _ = ring.refused(1, at: Self.now)
        #expect(ring.areAllRefused)
    }

    @Test func `An only key is never set aside`() {
        var ring = KeyRing(count: 1)
        #expect(ring.refused(0, at: Self.now) == nil && ring.limited(0, seconds: 9, at: Self.now) == nil)
        #expect(ring.next(at: Self.now) == 0 && ring.spares(at: Self.now) == 0)
    }

    @Test(arguments: [1, 2]) func `A key counts as refused until it works`(keys: Int) {
        var ring = KeyRing(count: keys)
        #expect(!ring.isRefused(0))
        _ = ring.refused(0, at: Self.now)
        #expect(ring.isRefused(0) && !ring.isRefused(7))
        ring.worked(0)
        #expect(!ring.isRefused(0))
        _ = ring.refused(0, at: Self.now)
        _ = ring.limited(0, seconds: 1, at: Self.now)
        #expect(!ring.isRefused(0))
    }

    @Test func `A key that works again is good at once, and odd numbers do no harm`() {
        var ring = KeyRing(count: 2)
        _ = ring.refused(0, at: Self.now)
        ring.worked(0)
        #expect(ring.next(at: Self.now) == 0)
        #expect(ring.refused(9, at: Self.now) == nil && ring.limited(-1, seconds: 3, at: Self.now) == nil)
        #expect(ring.limited(1, seconds: .max, at: Self.now) == .seconds(3600))
        #expect(ring.limited(0, seconds: .min, at: Self.now) == .seconds(0))
        ring.worked(-4)
    }
}

@Suite("The queue before a provider")
struct FairQueueTests {
    private static func queue(_ entries: [(TenantID, String)], atMost: Int = 100) -> FairQueue<String> {
        var queue = FairQueue<String>()
        for (tenant, name) in entries { _ = queue.enter(name, of: tenant, atMost: atMost) }
        return queue
    }

    private static func drain(_ queue: inout FairQueue<String>) -> [String] {
        var order: [String] = []
        while let next = queue.next() { order.append(next) }
        return order
    }

    @Test func `Tenants take turns, and each one's own keep their order`() {
        var queue = Self.queue([("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("c", "c1"), ("b", "b2")])
        #expect(Self.drain(&queue) == ["a1", "b1", "c1", "a2", "b2", "a3"])
        #expect(queue.count == 0 && queue.next() == nil)
    }

    @Test func `A tenant that comes late waits one turn, not a flood`() {
        var queue = Self.queue((0..<50).map { ("a", "a\($0)") } + [("b", "b0")])
        #expect(queue.next() == "a0")
        #expect(queue.next() == "b0")
    }

    @Test func `Full is full, but a flood makes room for others`() {
        var queue = Self.queue([("a", "a1"), ("a", "a2"), ("a", "a3")], atMost: 3)
        guard case .full = queue.enter("a4", of: "a", atMost: 3) else {
            Issue.record("a fourth got in")
            return
        }
        guard case .instead(let out, _) = queue.enter("b1", of: "b", atMost: 3), out == "a3" else {
            Issue.record("the flood kept its place")
            return
        }
        guard case .full = queue.enter("b2", of: "b", atMost: 3) else {
            Issue.record("one flood was changed for another")
            return
        }
        #expect(Self.drain(&queue) == ["a1", "b1", "a2"])
    }

    @Test func `Who leaves is not served, and leaves once`() {
        var queue = FairQueue<String>()
        guard case .waiting(let first) = queue.enter("a1", of: "a", atMost: 9),
            case .waiting(let second) = queue.enter("a2", of: "a", atMost: 9),
            case .waiting(let third) = queue.enter("b1", of: "b", atMost: 9)
        else {
            Issue.record("no place")
            return
        }
        let left = [queue.remove(first), queue.remove(first), queue.remove(third)]
        #expect(left == [true, false, true])
        #expect(Self.drain(&queue) == ["a2"])
        let gone = queue.remove(second)
        #expect(!gone)
    }

    @Test func `A queue of nothing takes nobody`() {
        var queue = FairQueue<String>()
        guard case .full = queue.enter("a", of: "a", atMost: 0) else {
            Issue.record("a place in no queue")
            return
        }
        #expect(queue.next() == nil)
    }
}
