import GatewayTypes
import Glibc
import Synchronization
import Testing

@testable import EventLoops

@Suite("Event loop")
struct EventLoopTests {
    let loop = Loops.group.loops[1]

    @Test func `Work stays on its thread across every await`() async throws {
        let loop = self.loop
        let stayed = try await on(loop) {
            var stayed = loop.isCurrent
            for _ in 0..<20 {
                await loop.sleep(for: .milliseconds(1))
                stayed = stayed && loop.isCurrent
                await Task.yield()
                stayed = stayed && loop.isCurrent
                let helper = await Self.isCurrent(loop)
                stayed = stayed && helper
                await withUnsafeContinuation { continuation in Loops.group.loops[0].submit { continuation.resume() } }
                stayed = stayed && loop.isCurrent
            }
            return stayed
        }
        #expect(stayed)
        #expect(!loop.isCurrent)
    }

    private static func isCurrent(_ loop: EventLoop) async -> Bool { loop.isCurrent }

    @Test func `Children of a group stay on the loop as well`() async throws {
        let loop = self.loop
        let all = try await on(loop) {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        await loop.sleep(for: .milliseconds(2))
                        return loop.isCurrent
                    }
                }
                return await group.reduce(true) { $0 && $1 }
            }
        }
        #expect(all)
    }

    @Test func `What the last calls of a loop leave behind is run before it ends`() throws {
        let group = try EventLoopGroup(count: 1)
        let loop = group.loops[0]
        let begun = Atomic(false)
        let mayEnd = Atomic(false)
        let told = Atomic(0)
        loop.submit {
            begun.store(true, ordering: .releasing)
            while !mayEnd.load(ordering: .acquiring) { usleep(1000) }
        }
        while !begun.load(ordering: .acquiring) { usleep(1000) }
        // Taken together with the word that the loop is to end.
        loop.submit { loop.submit { loop.submit { told.wrappingAdd(1, ordering: .relaxed) } } }
        loop.stop()
        mayEnd.store(true, ordering: .releasing)
        group.shutDown()
        #expect(told.load(ordering: .relaxed) == 1)
    }

    @Test func `Jobs run in the order in which they became ready`() async throws {
        let loop = self.loop
        let order = Box<[Int]>([])
        try await on(loop) {
            await withTaskGroup { group in
                for number in 0..<100 { group.addTask { order.change { $0.append(number) } } }
            }
        }
        #expect(order.now == Array(0..<100))
    }

    @Test func `Calls from one thread keep their order and run on the loop`() async throws {
        let loop = self.loop
        let order = Box<[Int]>([])
        for number in 0..<1000 {
            loop.submit { order.change { $0.append(loop.isCurrent ? number : -1) } }
        }
        #expect(try await eventually { order.now.count == 1000 })
        #expect(order.now == Array(0..<1000))
    }

    @Test func `No wake-up is lost when many threads submit`() async throws {
        let loop = self.loop
        let count = Box(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<2000 { loop.submit { count.change { $0 += 1 } } } }
            }
        }
        #expect(try await eventually { count.now == 16_000 })
    }

    @Test func `A call for later runs after the work at hand and before anything else`() async throws {
        let loop = self.loop
        let order = Box<[String]>([])
        try await on(loop) {
            loop.later {
                order.change { $0.append("first") }
                loop.later { order.change { $0.append("third") } }
            }
            loop.later { order.change { $0.append("second") } }
            order.change { $0.append("now") }
            await loop.sleep(for: .milliseconds(10))
        }
        #expect(order.now == ["now", "first", "second", "third"])
    }

    @Test func `Work that never ends leaves sockets and timers their turn`() async throws {
        let loop = self.loop
        let isOver = Box(false)
        let turns = Box(0)
        loop.submit { Self.spin(loop, until: isOver, counting: turns) }
        let (ours, peer) = try Peer.pair()
        defer { peer.close() }
        let received = Reader.on(loop, ours)
        peer.send(Array("hello".utf8))
        let slept = Box(false)
        try await on(loop) {
            await loop.sleep(for: .milliseconds(20))
            slept.change { $0 = true }
        }
        #expect(slept.now)
        #expect(try await eventually { received.text == "hello" })
        isOver.change { $0 = true }
        #expect(turns.now > 100)
        received.close()
    }

    private static func spin(_ loop: EventLoop, until isOver: Box<Bool>, counting turns: Box<Int>) {
        turns.change { $0 += 1 }
        if !isOver.now { loop.later { self.spin(loop, until: isOver, counting: turns) } }
    }

    @Test func `A sleep is never shorter than asked`() async throws {
        let loop = self.loop
        let spans = try await on(loop) {
            var spans: [(asked: TimeSpan, slept: TimeSpan)] = []
            for milliseconds in [0, 1, 3, 8, 11, 50] as [Int64] {
                let start = loop.clock.monotonicTime()
                await loop.sleep(for: .milliseconds(milliseconds))
                spans.append((.milliseconds(milliseconds), loop.clock.monotonicTime() - start))
            }
            return spans
        }
        for span in spans { #expect(span.slept >= span.asked) }
    }

    @Test func `A cancelled sleep ends at once`() async throws {
        let loop = self.loop
        try await on(loop) {
            await withTaskGroup { group in
                for _ in 0..<10 { group.addTask { await loop.sleep(for: .seconds(3600)) } }
                await loop.sleep(for: .milliseconds(20))
                group.cancelAll()
                // Begun after the cancellation, so it must not begin to wait.
                group.addTask { await loop.sleep(for: .seconds(3600)) }
            }
        }
    }

    @Test func `Sleeps that are cancelled while they end resume once`() async throws {
        let loop = self.loop
        try await on(loop) {
            for _ in 0..<200 {
                await withTaskGroup { group in
                    group.addTask { await loop.sleep(for: .milliseconds(1)) }
                    await Task.yield()
                    Loops.group.loops[0].submit {}
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `A timer's action may arm, remove and replace timers`() async throws {
        let loop = self.loop
        let fired = Box(0)
        let isArmed = try await on(loop) {
            let timer = LoopTimer()
            let other = LoopTimer { fired.change { $0 += 100 } }
            loop.arm(other, after: .seconds(60))
            timer.action = {
                fired.change { $0 += 1 }
                if fired.now < 3 { loop.arm(timer, after: .milliseconds(1)) } else { loop.remove(other) }
            }
            loop.arm(timer, after: .milliseconds(1))
            while fired.now < 3 { await loop.sleep(for: .milliseconds(5)) }
            await loop.sleep(for: .milliseconds(30))
            timer.action = nil
            return timer.isArmed || other.isArmed
        }
        #expect(fired.now == 3)
        #expect(!isArmed)
    }

    @Test func `Removing a timer lets go of what its action holds`() async throws {
        let loop = self.loop
        let isGone = try await on(loop) {
            weak var held: Box<Int>?
            let timer = LoopTimer()
            do {
                let box = Box(1)
                held = box
                timer.action = { box.change { $0 += 1 } }
            }
            loop.arm(timer, after: .seconds(3600))
            let wasHeld = held != nil
            loop.remove(timer)
            return wasHeld && held == nil
        }
        #expect(isGone)
    }

    @Test func `Shutting down runs what was handed over and ends the threads`() async throws {
        let group = Loops.makeGroup(3)
        let ran = Box(0)
        for loop in group.loops { for _ in 0..<100 { loop.submit { ran.change { $0 += 1 } } } }
        group.shutDown()
        #expect(ran.now == 300)
        for loop in group.loops {
            #expect(!loop.isCurrent)
            loop.submit { ran.change { $0 += 1 } }
        }
        #expect(ran.now == 300)
    }

    @Test func `Loops that have ended hold no descriptors`() {
        func count() -> Int { (0..<4096).count { fcntl($0, F_GETFD) >= 0 } }
        let before = count()
        for _ in 0..<100 {
            let group = Loops.makeGroup(3)
            group.shutDown()
            for loop in group.loops { loop.submit {} }
        }
        // Other tests have theirs; each of the 300 would have four.
        #expect(count() - before < 600)
    }

    @Test func `A group takes one loop for each core by default`() throws {
        let group = try EventLoopGroup()
        defer { group.shutDown() }
        #expect(group.loops.count >= 1)
        #expect(group.loops.map(\.index) == Array(0..<group.loops.count))
    }

    @Test func `A signal reaches its handler on the loop until it is closed`() async throws {
        let loop = self.loop
        let seen = Box<[Bool]>([])
        let source = SignalSource(SIGURG, on: loop) { seen.change { $0.append(loop.isCurrent) } }
        // The watch begins on the loop; what is submitted after it runs after it.
        try await on(loop) {}
        kill(getpid(), SIGURG)
        #expect(try await eventually { seen.now == [true] })
        source.close()
        try await on(loop) { await loop.sleep(for: .milliseconds(20)) }
        kill(getpid(), SIGURG)
        try await on(loop) { await loop.sleep(for: .milliseconds(50)) }
        #expect(seen.now == [true])
    }
}
