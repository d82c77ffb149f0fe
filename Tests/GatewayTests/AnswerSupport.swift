import Foundation
import GatewayTypes
import Testing

@testable import Gateway

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Reads an object of JSON, strictly as Foundation does.
func object(_ json: some StringProtocol) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
}

/// The fields of a head, checked to be whole lines with lower-case names, none twice.
func fields(_ write: (inout [UInt8]) -> Void) throws -> [String: String] {
    var bytes: [UInt8] = []
    write(&bytes)
    guard !bytes.isEmpty else { return [:] }
    var known: [String: String] = [:]
    let head = text(bytes)
    try #require(head.hasSuffix("\r\n"))
    for line in head.dropLast().split(separator: "\r\n") {
        let colon = try #require(line.firstIndex(of: ":"))
        let name = String(line[..<colon])
        #expect(name == name.lowercased())
        #expect(known[name] == nil, "\(name) twice")
        #expect(line[colon...].hasPrefix(": "))
        known[name] = String(line[colon...].dropFirst(2))
    }
    return known
}

/// One server-sent event, read as a client reads it.
struct ReceivedEvent {
    let type: String
    let data: [String: Any]

    /// Reads one event with one line of data, ended by exactly one empty line.
    init(_ text: String) throws {
        try #require(text.hasSuffix("\n\n") && !text.dropLast(2).contains("\n\n") && !text.hasSuffix("\n\n\n"))
        let lines = text.dropLast(2).split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.hasPrefix("event: ") || $0.hasPrefix("data: ") })
        self.type = lines.first { $0.hasPrefix("event: ") }.map { String($0.dropFirst(7)) } ?? "message"
        let data = lines.filter { $0.hasPrefix("data: ") }
        try #require(data.count == 1)
        self.data = try object(data[0].dropFirst(6))
    }
}

func state(
    _ kind: LimitKind, _ scope: LimitScope = .subject, of quantity: Int, remaining: Int = 0, reset: Int = 0,
    observe: Bool = false
) -> LimitState {
    LimitState(
        limit: Limit(kind, scope: scope, quantity: quantity, observe: observe), remaining: remaining,
        resetSeconds: reset)
}
