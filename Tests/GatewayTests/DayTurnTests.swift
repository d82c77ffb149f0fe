import GatewayTypes
import Testing

@testable import Gateway

/// The moment at which a day turns, as a client may show it.
@Suite struct DayTurnTests {
    private static let kathmandu = ZoneCalendar(offsetSeconds: 20_700)
    /// 2026: 5 hours behind, 4 from 8 March, 5 again from 1 November.
    private static let newYork = ZoneCalendar(
        offsetSeconds: -18_000,
        transitions: [
            .init(instant: 1_772_953_200, offsetSeconds: -14_400),
            .init(instant: 1_793_512_800, offsetSeconds: -18_000),
        ])
    /// In Santiago clocks go from 6 September 2026, 00:00, to 01:00 at once.
    private static let santiago = ZoneCalendar(
        offsetSeconds: -14_400, transitions: [.init(instant: 1_788_667_200, offsetSeconds: -10_800)])

    struct Turn: CustomTestStringConvertible {
        let zone: ZoneCalendar
        let now: Int64
        let text: String
        var testDescription: String { self.text }
    }

    private static let turns = [
        Turn(zone: .utc, now: 1_767_225_599, text: "2026-01-01T00:00:00+00:00"),
        Turn(zone: .utc, now: 1_767_225_600, text: "2026-01-02T00:00:00+00:00"),
        Turn(zone: Self.kathmandu, now: 1_767_204_899, text: "2026-01-01T00:00:00+05:45"),
        Turn(zone: Self.newYork, now: 1_772_946_000, text: "2026-03-09T00:00:00-04:00"),
        Turn(zone: Self.newYork, now: 1_793_505_600, text: "2026-11-02T00:00:00-05:00"),
        Turn(zone: Self.santiago, now: 1_788_660_000, text: "2026-09-06T01:00:00-03:00"),
    ]

    @Test(arguments: Self.turns)
    func `It is told with the offset that holds then`(_ turn: Turn) {
        let now = WallTime(seconds: turn.now)
        let left = turn.zone.day(at: now).secondsLeft(at: now)
        // A store whose clock is a little off has the same day, and tells the same turn.
        for skew in [0, -1, 1] where skew == 0 || left > 60 {
            let body = self.body(.tokensPerDay, left: left + skew, turn.zone, now)
            #expect(body.contains(#""resetsAt":"\#(turn.text)""#), "\(body)")
        }
        #expect(!self.body(.requestsPerMinute, left: left, turn.zone, now).contains("resetsAt"))
    }

    @Test func `A limit of 0 has no turn to wait for, and its refusal says so`() {
        let now = WallTime(seconds: 1_767_225_600)
        let body = self.body(.tokensPerDay, of: 0, left: 3600, .utc, now)
        #expect(!body.contains("resetsAt"), "\(body)")
        #expect(body.contains(#""detail":"The limit is 0"#) && !body.contains("used up"), "\(body)")
        #expect(self.body(.requestsPerMinute, of: 0, left: 60, .utc, now).contains(#""detail":"The limit is 0"#))
        #expect(self.body(.tokensPerDay, left: 3600, .utc, now).contains("used up"))
    }

    private func body(
        _ kind: LimitKind, of quantity: Int = 10, left: Int, _ zone: ZoneCalendar, _ now: WallTime
    ) -> String {
        var answer = ErrorAnswer(exceeded: state(kind, of: quantity, reset: left))
        answer.dayTurn = DayTurn(zone, now: now)
        var body: [UInt8] = []
        answer.appendBody(to: &body, format: .own, language: .english, requestID: .random())
        return String(decoding: body, as: UTF8.self)
    }
}
