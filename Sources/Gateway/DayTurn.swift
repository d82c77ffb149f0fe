import GatewayTypes
import JSON
import Quota

/// When a day of tokens ends, as a client may show it: in the tenant's own zone (RFC 3339).
struct DayTurn: Sendable {
    private let calendar: ZoneCalendar
    private let now: WallTime

    init(_ calendar: ZoneCalendar, now: WallTime) {
        self.calendar = calendar
        self.now = now
    }

    /// Writes the member `resetsAt` of a limit that counts days; nothing for others, and for one of 0, which the next
    /// day does not change.
    func append(_ state: LimitState, to json: inout JSONWriter) {
        guard state.limit.kind == .tokensPerDay, state.limit.quantity > 0 else { return }
        // The store has the say over which day it is. Its clock and ours agree at least in the middle of its wait.
        let middle = WallTime(seconds: self.now.seconds &+ Int64(max(0, state.resetSeconds)) / 2)
        json.name("resetsAt")
        json.string(utf8: Self.text(of: self.calendar.day(at: middle).endsAt, in: self.calendar))
    }

    /// A moment with the offset that holds from it on. There need not be a midnight on every day.
    static func text(of second: Int64, in calendar: ZoneCalendar) -> [UInt8] {
        let time = WallTime(seconds: second)
        let offset = calendar.offsetSeconds(at: time)
        let clock = (((second &+ Int64(offset)) % 86_400) &+ 86_400) % 86_400
        let day = calendar.day(at: time).number
        var text: [UInt8] = []
        self.append(day / 10_000, digits: 4, to: &text)
        for (mark, value) in [("-", day / 100 % 100), ("-", day % 100), ("T", Int(clock / 3600))] {
            text.append(contentsOf: mark.utf8)
            self.append(value, digits: 2, to: &text)
        }
        for value in [clock / 60 % 60, clock % 60] {
            text.append(0x3A)
            self.append(Int(value), digits: 2, to: &text)
        }
        text.append(offset < 0 ? 0x2D : 0x2B)
        self.append(abs(offset) / 3600, digits: 2, to: &text)
        text.append(0x3A)
        self.append(abs(offset) / 60 % 60, digits: 2, to: &text)
        return text
    }

    private static func append(_ value: Int, digits: Int, to text: inout [UInt8]) {
        var unit = 1
        for _ in 1..<digits { unit &*= 10 }
        while unit > 0 {
            text.append(0x30 &+ UInt8(truncatingIfNeeded: max(0, value) / unit % 10))
            unit /= 10
        }
    }
}
