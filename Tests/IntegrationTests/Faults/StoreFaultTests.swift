import GatewayTesting
import GatewayTypes
import JSON
import Testing

/// What gateways do while a real store fails, by the stance of their limits, and what is left of it behind it.
@Suite("A store that fails", .oneOfFewThreads)
struct StoreFaultTests {
    /// One gateway of a stance, and the callers whose books are compared at the end.
    private struct Stand {
        let stance: String
        let gateway: TestGateway
        let before = Caller("rpm-5")
        let during = Caller("rpm-5")
        /// Whole answers of each caller.
        var answered: [String: Int] = [:]

        init(_ stance: String, _ store: String) throws {
            var settings = GatewaySettings(loops: 1)
            settings.store = store
            settings.outage = stance
            self.stance = stance
            self.gateway = try TestGateway(settings)
        }

        mutating func ask(_ caller: Caller) throws -> Answer {
            let answer = try self.gateway.ask(Ask("fault"), as: caller)
            if answer.status == 200 { self.answered[caller.subject, default: 0] += 1 }
            return answer
        }

        /// Asks as somebody new until the store has let an ask pass again, and says so everywhere.
        func isWell(within limit: TimeSpan) -> Bool {
            Stopwatch.wait(upTo: limit, every: 50) {
                (try? self.gateway.ask(Ask("well"), as: Caller()).status) == 200
                    && self.gateway.process.metrics.value("askgate_store_degraded") == 0
                    && self.gateway.process.metrics.value("askgate_store_settlements_waiting") == 0
            }
        }

        var readiness: JSONValue? { self.gateway.process.admin("/readyz")?.json }
        var log: String { self.gateway.process.child.standardError + self.gateway.process.child.standardOutput }
    }

    @Test(arguments: StoreFault.all)
    func `Each stance has its outcome, nothing waits, and the books are right behind it`(_ fault: StoreFault) throws {
        let scene = try fault.scene(fault.deadline)
        var stands = try ["deny", "allow", "local"].map { try Stand($0, scene.store) }
        for index in stands.indices { try self.warm(&stands[index]) }
        try scene.begin()
        for index in stands.indices { try self.suffer(&stands[index], fault) }
        if fault.lasts { for stand in stands { try self.expectVisible(stand, fault) } }
        try scene.end()
        for stand in stands {
            #expect(stand.isWell(within: .seconds(20)), "\(stand.stance) does not come back")
            #expect(stand.readiness?["store"] == nil && stand.readiness?["status"]?.string == "ready")
            // A thread of its own writes the log. Who asked after a failover was over may never have noticed it.
            let isTold =
                !fault.lasts
                || Stopwatch.wait(upTo: .seconds(15), every: 20) { stand.log.contains("store answers again") }
            #expect(isTold)
            try self.expectBooks(stand, fault)
        }
    }

    private func warm(_ stand: inout Stand) throws {
        let passed = Stopwatch.wait(upTo: .seconds(10), every: 20) {
            (try? stand.gateway.ask(Ask("warm"), as: Caller()).status) == 200
        }
        try #require(passed)
        // Where a decision is waited for ever so shortly one may fail by bad luck.
        var isIn = false
        for _ in 0..<20 where !isIn { isIn = try stand.ask(stand.before).status == 200 }
        try #require(isIn)
        #expect(try stand.gateway.isIdle(stand.before))
    }

    /// More asks than the plan allows, each of them timed.
    private func suffer(_ stand: inout Stand, _ fault: StoreFault) throws {
        var statuses: [Int] = []
        for _ in 0..<8 {
            let watch = Stopwatch()
            let answer = try stand.ask(stand.during)
            // A decision waits for the deadline at most; the rest is a busy machine.
            #expect(watch.elapsed < fault.deadline + .seconds(2), "\(stand.stance) waited \(watch.milliseconds) ms")
            if answer.status == 503 {
                #expect(answer.code == "quota_store_unavailable")
                #expect(answer.response.header("retry-after") != nil)
            }
            statuses.append(answer.status)
        }
        guard fault.lasts else {
            #expect(stand.stance != "deny" || statuses.contains(503))
            #expect(stand.stance != "allow" || statuses == Array(repeating: 200, count: 8))
            return
        }
        switch stand.stance {
        case "deny": #expect(statuses == Array(repeating: 503, count: 8))
        case "allow": #expect(statuses == Array(repeating: 200, count: 8))
        default: #expect(statuses == [200, 200, 200, 200, 200, 429, 429, 429])
        }
        let memory = stand.gateway.process.child.residentMemory
        let flood = Caller()
        for _ in 0..<150 {
            let watch = Stopwatch()
            let answer = try stand.ask(flood)
            #expect(answer.status == (stand.stance == "deny" ? 503 : 200))
            #expect(watch.elapsed < fault.deadline + .seconds(2))
        }
        let grown = stand.gateway.process.child.residentMemory - memory
        #expect(grown < 12 << 20, "\(stand.stance) grew by \(grown >> 10) KiB")
    }

    private func expectVisible(_ stand: Stand, _ fault: StoreFault) throws {
        #expect(stand.gateway.process.metrics.value("askgate_store_degraded") == 1, "\(stand.stance)")
        let reason = stand.readiness?["store"]?["degraded"]?.string ?? "none"
        #expect(fault.reasons.contains(reason), "\(stand.stance) is degraded by \(reason)")
        #expect(stand.gateway.process.admin("/readyz")?.status == 200)
        #expect(stand.log.contains("store does not answer"))
        let without = stand.gateway.process.metrics.value("askgate_admitted_without_store_total")
        #expect(without >= Double(["deny": 0, "allow": 158, "local": 155][stand.stance] ?? 0), "\(stand.stance)")
        if stand.stance == "deny" { #expect(without == 0) }
    }

    /// What was charged is what the provider reported, and no place is held.
    private func expectBooks(_ stand: Stand, _ fault: StoreFault) throws {
        let lost = fault.keepsCounts ? 0 : 1
        for (subject, count) in stand.answered {
            let caller = Caller("rpm-5", subject: subject)
            let expected = 15 * (count - (subject == stand.before.subject ? lost : 0))
            var charged = -1
            let agrees = try Stopwatch.wait(upTo: .seconds(15), every: 50) {
                charged = try stand.gateway.charged(to: caller)
                return charged == expected
            }
            #expect(agrees, "\(stand.stance): \(charged) tokens charged for \(expected)")
        }
        // Who was refused paid nothing.
        if stand.answered[stand.during.subject] == nil { #expect(try stand.gateway.charged(to: stand.during) == 0) }
        #expect(stand.gateway.process.metrics.value("askgate_reservations_leaked_total") == 0)
        #expect(stand.gateway.process.metrics.value("askgate_store_settlements_dropped_total") == 0)
    }
}
