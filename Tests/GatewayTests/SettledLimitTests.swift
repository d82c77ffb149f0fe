import GatewayTypes
import Quota
import Testing

@testable import Gateway

@Suite("A limit after settlement")
struct SettledLimitTests {
    /// Where a limit stands after an ask that reserved 500 tokens and was charged `charged`.
    private func settled(
        _ kind: LimitKind, of quantity: Int, used: Int, reset: Int, charged: Int = 0, after seconds: Int
    ) -> LimitState {
        let state = LimitState(
            limit: Limit(kind, quantity: quantity), remaining: max(0, quantity - used), resetSeconds: reset,
            used: used)
        let day = LocalDay(number: 2026_03_29, startsAt: 0, endsAt: 86_400)
        let grant = Grant(states: [state], outputTokens: 400, reservedTokens: 500, day: day)
        return state.settled(charged: charged, of: grant, after: seconds)
    }

    @Test(
        "tells the wait for the minute as of now, not as of the admission",
        arguments: [
            // admissions, wait then, seconds since, admissions now, wait now
            (3, 42, 0, 3, 42), (3, 42, 20, 3, 22), (3, 42, 41, 3, 1), (3, 42, 59, 3, 1), (3, 42, 60, 0, 0),
            (1, 60, 59, 1, 1), (1, 60, 300, 0, 0), (3, 42, -5, 3, 42), (3, 42, .max, 0, 0),
        ])
    func minute(_ used: Int, _ reset: Int, _ seconds: Int, _ usedNow: Int, _ resetNow: Int) {
        let state = self.settled(.requestsPerMinute, of: 10, used: used, reset: reset, after: seconds)
        #expect(state.used == usedNow)
        #expect(state.remaining == 10 - usedNow)
        #expect(state.resetSeconds == resetNow)
    }

    @Test(
        "gives the unused part of a reservation back and tells the turn of the day as of now",
        arguments: [
            // used then, charged, wait then, seconds since, used now, wait now
            (700, 120, 3600, 30, 320, 3570), (700, 500, 3600, 0, 700, 3600), (700, 900, 3600, 5, 1100, 3595),
            (500, 0, 3600, 5, 0, 0),
            // The day has turned: what was charged is the old day's.
            (700, 120, 30, 30, 0, 0), (700, 120, 30, 29, 320, 1),
        ])
    func day(_ used: Int, _ charged: Int, _ reset: Int, _ seconds: Int, _ usedNow: Int, _ resetNow: Int) {
        let state = self.settled(
            .tokensPerDay, of: 1000, used: used, reset: reset, charged: charged, after: seconds)
        #expect(state.used == usedNow)
        #expect(state.remaining == max(0, 1000 - usedNow))
        #expect(state.resetSeconds == resetNow)
    }

    @Test("frees the place of the ask that has ended", arguments: [(1, 0, 0), (4, 3, 30)])
    func place(_ used: Int, _ usedNow: Int, _ resetNow: Int) {
        let state = self.settled(.concurrentRequests, of: 5, used: used, reset: 30, after: 12)
        #expect(state.used == usedNow)
        #expect(state.remaining == 5 - usedNow)
        #expect(state.resetSeconds == resetNow)
    }
}
