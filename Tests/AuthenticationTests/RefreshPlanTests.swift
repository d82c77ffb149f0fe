import GatewayTypes
import Testing

@testable import Authentication

@Suite("When a key set is fetched")
struct RefreshPlanTests {
    private func at(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9))
    }

    private func plan() -> RefreshPlan {
        RefreshPlan(cooldown: .seconds(30), staleFor: .seconds(3600), now: self.at(0))
    }

    /// A plan whose first fetch succeeded at 1 s.
    private func loaded(lifetime: TimeSpan = .seconds(600), chance: Double = 1) -> RefreshPlan {
        var plan = self.plan()
        plan.started()
        plan.succeeded(lifetime: lifetime, now: self.at(1), chance: chance)
        return plan
    }

    @Test("The first fetch is due at once, the next well before the answer grows old")
    func refresh() {
        #expect(self.plan().due == self.at(0))
        #expect(self.loaded().due == self.at(481))
        #expect(self.loaded(chance: 0).due == self.at(433))
    }

    @Test("A token starts a fetch once a cooldown, whether the last one succeeded or failed")
    func cooldown() {
        var plan = self.loaded()
        let demand1 = plan.demanded(now: self.at(30.9))
        #expect(demand1 == .refuse)
        let demand2 = plan.demanded(now: self.at(31))
        #expect(demand2 == .start)
        plan.started()
        let demand3 = plan.demanded(now: self.at(31))
        #expect(demand3 == .join)
        plan.failed(retryAfter: nil, now: self.at(33), chance: 0)
        let demand4 = plan.demanded(now: self.at(62.9))
        #expect(demand4 == .refuse)
        let demand5 = plan.demanded(now: self.at(63))
        #expect(demand5 == .start)
    }

    @Test("Without keys tokens wait for a fetch that comes within a second")
    func noKeys() {
        var plan = self.plan()
        let demand6 = plan.demanded(now: self.at(0))
        #expect(demand6 == .start)
        plan.started()
        for count in 0..<6 { plan.failed(retryAfter: nil, now: self.at(Double(count)), chance: 0) }
        #expect(plan.due == self.at(5 + 32))
        let demand7 = plan.demanded(now: self.at(5.5))
        #expect(demand7 == .join)
        #expect(plan.due == self.at(6))
        let demand8 = plan.demanded(now: self.at(6.5))
        #expect(demand8 == .start)
    }

    @Test("Failures are repeated ever more slowly, a minute apart at most")
    func backoff() {
        var plan = self.loaded()
        var pauses: [Double] = []
        for _ in 0..<9 {
            plan.started()
            plan.failed(retryAfter: nil, now: self.at(500), chance: 0)
            pauses.append((plan.due - self.at(500)).inSeconds)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        plan.failed(retryAfter: .seconds(3600), now: self.at(500), chance: 1)
        #expect(plan.due == self.at(566))
        plan.succeeded(lifetime: .seconds(60), now: self.at(600), chance: 1)
        plan.failed(retryAfter: .seconds(20), now: self.at(700), chance: 0)
        #expect(plan.due == self.at(720))
    }

    @Test("A set is fetched anew before it would be dropped, however long the issuer calls it fresh")
    func longLifetime() {
        #expect(self.loaded(lifetime: .seconds(86_400)).due == self.at(1 + 2880))
        var plan = self.loaded(lifetime: .seconds(86_400))
        // And when it was dropped all the same, a fetch is due at once.
        plan.failed(retryAfter: nil, now: self.at(3600.5), chance: 0)
        let isDropped = plan.droppedStale(now: self.at(3601))
        #expect(isDropped && plan.due == self.at(3601))
    }

    @Test("A set is dropped when nobody has confirmed it for too long")
    func stale() {
        var plan = self.loaded()
        plan.failed(retryAfter: nil, now: self.at(3000), chance: 0)
        let plan3600 = plan.droppedStale(now: self.at(3600))
        #expect(!plan3600)
        let plan3601 = plan.droppedStale(now: self.at(3601))
        #expect(plan3601)
        let plan3602 = plan.droppedStale(now: self.at(3602))
        #expect(!plan3602)
        var kept = self.plan()
        kept.restored(age: .seconds(3590), now: self.at(0))
        let kept9 = kept.droppedStale(now: self.at(9))
        #expect(!kept9)
        let kept10 = kept.droppedStale(now: self.at(10))
        #expect(kept10)
    }

    @Test(
        "How long an answer is fresh",
        arguments: [
            (nil, nil, 600), ("max-age=3600", nil, 3600), ("public, max-age=\"900\"", nil, 900),
            ("max-age=10", nil, 60), ("max-age=99999999999999999999", nil, 86_400), ("no-store", nil, 60),
            ("max-age=3600, no-cache", nil, 60), ("MAX-AGE = 120", nil, 120), ("max-age=-5", nil, 600),
            ("max-age=1e9", nil, 600), ("max-age", nil, 600), ("s-maxage=5", nil, 600),
            ("max-age=3600", "600", 3000), ("max-age=3600", "9999", 60), ("max-age=3600", "x", 3600),
            (",,=,", nil, 600),
        ] as [(String?, String?, Int64)])
    func freshness(cacheControl: String?, age: String?, seconds: Int64) {
        #expect(Freshness.lifetime(cacheControl: cacheControl, age: age, least: .seconds(60)) == .seconds(seconds))
    }

    @Test(
        "Where an issuer's metadata is",
        arguments: [
            ("https://id.test", "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/", "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/realms/a", "https://id.test/realms/a/.well-known/openid-configuration"),
        ])
    func metadata(issuer: String, url: String) { #expect(RemoteKeySource.discoveryURL(of: ByteString(issuer)) == url) }
}
