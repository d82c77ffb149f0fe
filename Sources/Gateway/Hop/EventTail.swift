import GatewayTypes
import HTTPCodec

/// Cuts a stream of events, as this program writes them, behind whole events: what is handed on can be followed by
/// another event, or by nothing, wherever the rest breaks off. Remembers how the last event would end the stream.
struct EventTail {
    enum Last: Hashable {
        /// A comment, or an event that others follow.
        case open
        case finished
        case failed(ErrorCode)
    }

    private(set) var last = Last.open
    private var rest: [UInt8] = []

    /// Bytes of an event that has not come whole.
    var heldBytes: Int { self.rest.count }

    /// Takes bytes in as they come; those of whole events, none when no event has become whole.
    mutating func take(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let known = max(0, self.rest.count &- 1)
        self.rest.append(contentsOf: bytes)
        guard let end = Self.endOfLastEvent(in: self.rest, from: known, to: self.rest.count) else { return [] }
        let start = Self.endOfLastEvent(in: self.rest, from: 0, to: end &- 1) ?? 0
        self.last = Self.last(self.rest[start..<end])
        guard end < self.rest.count else {
            var whole: [UInt8] = []
            swap(&whole, &self.rest)
            return whole
        }
        let whole = Array(self.rest[..<end])
        self.rest = Array(self.rest[end...])
        return whole
    }

    /// Behind the last empty line that lies in the range; nil when there is none.
    private static func endOfLastEvent(in bytes: [UInt8], from start: Int, to end: Int) -> Int? {
        var place = end &- 2
        while place >= start {
            if bytes[place] == 0x0A, bytes[place &+ 1] == 0x0A { return place &+ 2 }
            place &-= 1
        }
        return nil
    }

    /// What one event says of the stream: ours, or those of chat completions.
    private static func last(_ event: ArraySlice<UInt8>) -> Last {
        var event = event
        if event.starts(with: "id: ".utf8), let end = event.firstIndex(of: 0x0A) {
            event = event[event.index(after: end)...]
        }
        if event.starts(with: "event: finish\n".utf8) || event.starts(with: "data: [DONE]\n".utf8) { return .finished }
        guard event.starts(with: "event: error\n".utf8) || event.starts(with: #"data: {"error":"#.utf8) else {
            return .open
        }
        return .failed(Self.code(event) ?? .internalError)
    }

    /// Inside a string of JSON these quotes would be escaped, so this is the member.
    private static func code(_ event: ArraySlice<UInt8>) -> ErrorCode? {
        let member = Array(#""code":""#.utf8)
        guard event.count > member.count else { return nil }
        for start in event.startIndex...(event.endIndex &- member.count) {
            guard event[start] == member[0], event[start...].starts(with: member) else { continue }
            let value = event[(start &+ member.count)...].prefix { $0 != 0x22 }
            return ErrorCode(rawValue: String(decoding: value, as: UTF8.self))
        }
        return nil
    }
}
