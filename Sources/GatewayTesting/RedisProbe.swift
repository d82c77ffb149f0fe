import GatewayTypes

/// What a server says to a probe.
package enum RedisAnswer: Equatable {
    case text(String)
    case number(Int)
    case nothing
    case list([RedisAnswer])
    case error(String)

    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var number: Int? { if case .number(let number) = self { number } else { nil } }
}

/// One connection to a Redis server that waits for each answer, for what tests do behind the back of the client that
/// they test.
package final class RedisProbe: Sendable {
    package struct Broken: Error {}

    private let socket: TestSocket

    package init(port: UInt16) throws { self.socket = try TestSocket.connect(port: port) }

    /// Sends a command and waits for its answer.
    @discardableResult
    package func call(_ words: String...) throws -> RedisAnswer { try self.call(words) }

    @discardableResult
    package func call(_ words: [String]) throws -> RedisAnswer {
        try self.socket.send("*\(words.count)\r\n".utf8)
        for word in words { try self.socket.send("$\(word.utf8.count)\r\n\(word)\r\n".utf8) }
        return try self.answer()
    }

    private func line() throws -> String {
        var bytes: [UInt8] = []
        while !(bytes.last == 10 && bytes.dropLast().last == 13) { bytes.append(try self.take(1)[0]) }
        return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }

    private func take(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try self.socket.receive(most: count - bytes.count, within: .seconds(10))
            guard !piece.isEmpty else { throw Broken() }
            bytes += piece
        }
        return bytes
    }

    private func answer() throws -> RedisAnswer {
        let line = try self.line()
        let rest = String(line.dropFirst())
        switch line.first {
        case "+": return .text(rest)
        case "-": return .error(rest)
        case ":": return .number(try Self.number(rest))
        case "$":
            let count = try Self.number(rest)
            guard count >= 0 else { return .nothing }
            return .text(String(decoding: try self.take(count + 2).dropLast(2), as: UTF8.self))
        case "*":
            let count = try Self.number(rest)
            guard count >= 0 else { return .nothing }
            return .list(try (0..<count).map { _ in try self.answer() })
        default: throw Broken()
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text) else { throw Broken() }
        return number
    }
}
