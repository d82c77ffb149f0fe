import GatewayTesting
import GatewayTypes
import Testing

@testable import RedisClient

/// Stands before a server and harms what passes: delays it, cuts it, puts nonsense in its place, swallows it.
final class FaultyProxy: Sendable {
    private let door: ScriptedServer
    private let isGood = Gate()

    init(before port: UInt16, seed: UInt64) throws {
        let random = Box(SeededNumbers(seed: seed))
        let isGood = self.isGood
        self.door = try ScriptedServer { client in
            let server = try TestSocket.connect(port: port)
            OwnThread.start {
                Self.pass(client, to: server, random, isGood)
                server.interrupt()
            }
            Self.pass(server, to: client, random, isGood)
            client.interrupt()
        }
    }

    var settings: RedisSettings { self.door.settings }
    var connections: Int { self.door.connections }

    /// From now on everything passes as it is.
    func becomeGood() { self.isGood.open() }
    func stop() { self.door.stop() }

    private static func pass(
        _ source: TestSocket, to target: TestSocket, _ random: Box<SeededNumbers>, _ isGood: Gate
    ) {
        while let bytes = try? source.receive(within: .seconds(20)), !bytes.isEmpty {
            let fate = isGood.isPassable ? 1000 : Self.draw(0..<1000, random)
            switch fate {
            case ..<8: return target.close(reset: true)
            case ..<16:
                // As a bulk string its end is missing, as a reply its first byte.
                try? target.send([UInt8](repeating: 1, count: 64))
                return
            case ..<24:
                try? target.send(bytes.prefix(Self.draw(0..<bytes.count, random)))
                return
            case ..<28:
                // And all that follows: a stream has no holes.
                while let more = try? source.receive(within: .seconds(20)), !more.isEmpty {}
                return
            case ..<80: Stopwatch.sleep(milliseconds: Self.draw(1..<30, random))
            case ..<160:
                let middle = Self.draw(0..<bytes.count, random)
                try? target.send(bytes.prefix(middle))
                Stopwatch.sleep(milliseconds: 2)
                try? target.send(bytes.dropFirst(middle))
                continue
            default: break
            }
            guard (try? target.send(bytes)) != nil else { return }
        }
    }

    private static func draw(_ range: Range<Int>, _ random: Box<SeededNumbers>) -> Int {
        var drawn = range.lowerBound
        random.change { drawn = Int.random(in: range, using: &$0) }
        return drawn
    }
}
