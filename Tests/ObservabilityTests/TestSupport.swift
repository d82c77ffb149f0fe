import Foundation
import GatewayTypes
import Synchronization
import Testing

/// A clock that stands still until a test turns it.
final class HandClock: GatewayTypes.Clock {
    private let offset = Mutex(TimeSpan.seconds(0))

    func wallTime() -> WallTime { WallTime(seconds: 1_800_000_000) + self.offset.withLock { $0 } }
    func monotonicTime() -> MonotonicTime { MonotonicTime(nanoseconds: 1_000_000_000) + self.offset.withLock { $0 } }
    func advance(by span: TimeSpan) { self.offset.withLock { $0 = $0 + span } }
}

/// A folder that is gone after the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("observability-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func file(_ name: String) -> String { self.path + "/" + name }
    func lines(_ name: String) throws -> [String] {
        try String(contentsOfFile: self.file(name), encoding: .utf8).split(separator: "\n").map(String.init)
    }
}

/// Reads one line of JSON as members.
func members(_ line: some StringProtocol) throws -> [String: any Sendable] {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
    let dictionary = try #require(object as? [String: Any])
    return dictionary.mapValues { value in
        switch value {
        case let text as String: text
        case is NSNull: "null"
        case let number as NSNumber: number.doubleValue
        default: "?"
        }
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// Waits for something another thread does, without counting on how fast it is.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<1000 {
        if try condition() { return true }
        usleep(10_000)
    }
    return false
}
