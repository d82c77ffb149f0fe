import GatewayTesting
import GatewayTypes
import Testing

/// Stands before a server and holds up what passes, in both directions; new connections can be led elsewhere.
final class SlowRoad: Sendable {
    private struct State {
        var port: UInt16
        var milliseconds = 0
        var isClosed = false
    }

    private let door: LoopbackServer
    private let state: Box<State>

    init(to port: UInt16) throws {
        let state = Box(State(port: port))
        self.state = state
        self.door = try LoopbackServer { client, _ in
            let server = try TestSocket.connect(port: state.now.port)
            OwnThread.start {
                Self.pass(client, to: server, state)
                server.interrupt()
            }
            Self.pass(server, to: client, state)
            client.interrupt()
        }
    }

    deinit { self.door.stop() }

    var port: UInt16 { self.door.port }

    /// From now on everything arrives so much later.
    func delay(by milliseconds: Int) { self.state.change { $0.milliseconds = milliseconds } }

    /// From now on nothing arrives any more, in either direction.
    func close() { self.state.change { $0.isClosed = true } }

    /// Connections made from now on go there.
    func lead(to port: UInt16) { self.state.change { $0.port = port } }

    private static func pass(_ source: TestSocket, to target: TestSocket, _ state: Box<State>) {
        while let bytes = try? source.receive(within: .seconds(60)), !bytes.isEmpty {
            Stopwatch.sleep(milliseconds: state.now.milliseconds)
            if state.now.isClosed { continue }
            guard (try? target.send(bytes)) != nil else { return }
        }
    }
}

extension RedisServer {
    /// Takes another password and ends every connection that came with the old one.
    func change(password old: String, to new: String) throws {
        let probe = try self.probe()
        try probe.call("AUTH", old)
        try #require(try probe.call("CONFIG", "SET", "requirepass", new).text == "OK")
        try probe.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        try probe.call("CLIENT", "KILL", "TYPE", "pubsub")
    }

    /// One number of `INFO`.
    func info(_ section: String, _ name: String) throws -> Int? {
        let lines = (try self.call("INFO", section).text ?? "").split(separator: "\r\n")
        return lines.first { $0.hasPrefix("\(name):") }.flatMap { Int($0.dropFirst(name.utf8.count + 1)) }
    }

    /// How often each command was called, by name.
    func calls() throws -> [String: Int] {
        let lines = (try self.call("INFO", "commandstats").text ?? "").split(separator: "\r\n")
        return lines.reduce(into: [:]) { calls, line in
            guard line.hasPrefix("cmdstat_"), let colon = line.firstIndex(of: ":") else { return }
            let name = String(line[..<colon].dropFirst("cmdstat_".count))
            let count = line[line.index(after: colon)...].split(separator: ",").first?.dropFirst("calls=".count)
            calls[name] = count.flatMap { Int($0) }
        }
    }

    /// Waits until a replica has all that was written so far.
    func awaitReplica(_ replica: RedisServer) throws {
        let written = try #require(try self.info("replication", "master_repl_offset"))
        let hasAll = try Stopwatch.wait(upTo: .seconds(10)) {
            try (replica.info("replication", "slave_repl_offset") ?? 0) >= written
        }
        try #require(hasAll, "the replica does not follow")
    }
}

extension RedisSentinels {
    func awaitReplica() throws { try self.master.awaitReplica(self.replica) }
}

extension RedisCluster {
    func awaitReplica() throws { try self.masters[0].awaitReplica(self.replicas[0]) }

    func keys(in slot: Int, of master: Int) throws -> [String] {
        let answer = try self.masters[master].call("CLUSTER", "GETKEYSINSLOT", "\(slot)", "100000")
        guard case .list(let keys) = answer else { return [] }
        return keys.compactMap(\.text)
    }

    /// Where what callers of the tenant `acme` have used lies before any slot was moved; they must have used something.
    func placeOfAcme() throws -> (slot: Int, source: Int) {
        let slot = try #require(try self.masters[0].call("CLUSTER", "KEYSLOT", "{tYWNtZQ}").number)
        let source = self.master(of: slot)
        try #require(!self.keys(in: slot, of: source).isEmpty, "nothing of the tenant lies here")
        return (slot, source)
    }
}
