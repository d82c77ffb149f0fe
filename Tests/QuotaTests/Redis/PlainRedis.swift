import EventLoops
import GatewayTesting
import GatewayTypes
import Glibc
import Quota
import RedisClient
import Synchronization
import Testing

/// One connection that waits for each answer, so that a test of the scripts depends on no client of ours.
final class PlainRedis {
    enum Reply: Equatable {
        case integer(Int)
        case bytes([UInt8])
        case null
        case array([Reply])
        case error(String)
    }

    struct Broken: Error {}

    private let descriptor: Int32
    private var input: [UInt8] = []
    private var position = 0

    init(path: String) throws {
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < 107 else { throw Broken() }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        try self.connect(&address, MemoryLayout<sockaddr_un>.size)
    }

    init(port: UInt16) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try self.connect(&address, MemoryLayout<sockaddr_in>.size)
    }

    private func connect<Address>(_ address: inout Address, _ size: Int) throws {
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(self.descriptor, $0, socklen_t(size))
            }
        }
        guard result == 0 else { throw Broken() }
    }

    deinit { close(self.descriptor) }

    /// - Parameter words: nothing, to wait for the next message of a subscription.
    func call(_ words: [[UInt8]]) throws -> Reply {
        var output = words.isEmpty ? [] : Array("*\(words.count)\r\n".utf8)
        for word in words { output += Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes {
                send(self.descriptor, $0.baseAddress.map { $0 + sent }, output.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Broken() }
            sent += count
        }
        let reply = try self.reply()
        self.input.removeFirst(self.position)
        self.position = 0
        return reply
    }

    func call(_ words: String...) throws -> Reply { try self.call(words.map { Array($0.utf8) }) }

    private func fill() throws {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(self.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw Broken() }
        self.input += buffer[..<count]
    }

    private func line() throws -> String {
        while true {
            if let end = self.input[self.position...].firstIndex(of: 13), end + 1 < self.input.count {
                defer { self.position = end + 2 }
                return String(decoding: self.input[self.position..<end], as: UTF8.self)
            }
            try self.fill()
        }
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text) else { throw Broken() }
        return number
    }

    private func reply() throws -> Reply {
        let line = try self.line()
        let rest = String(line.dropFirst())
        switch line.first {
        case "+": return .bytes(Array(rest.utf8))
        case "-": return .error(rest)
        case ":": return .integer(try Self.number(rest))
        case "$":
            let length = try Self.number(rest)
            guard length >= 0 else { return .null }
            while self.input.count < self.position + length + 2 { try self.fill() }
            defer { self.position += length + 2 }
            return .bytes(Array(self.input[self.position..<(self.position + length)]))
        case "*":
            let count = try Self.number(rest)
            guard count >= 0 else { return .null }
            return .array(try (0..<count).map { _ in try self.reply() })
        default: throw Broken()
        }
    }
}

/// Runs the store's scripts over plain connections; with a told clock instead of the server's where wanted.
final class PlainRunner: ScriptRunner {
    private let connection: PlainRedis
    private let isTold: Bool
    private var digests: [QuotaScript: [UInt8]] = [:]
    private var others: [UInt16: PlainRedis] = [:]
    /// When set, scripts are not run but fail so; with `true` they run and their answer is lost.
    var failure: (QuotaFailure, actsFirst: Bool)?
    private let made = Atomic(0)
    /// Read from any thread.
    var calls: Int { self.made.load(ordering: .relaxed) }
    /// How many keys each script was told last.
    private(set) var keys: [QuotaScript: Int] = [:]

    init(_ connection: PlainRedis, isTold: Bool) {
        self.connection = connection
        self.isTold = isTold
    }

    /// The text with the line replaced that reads the server's clock.
    static func text(_ script: QuotaScript, isTold: Bool) -> [UInt8] {
        let text = String(decoding: script.text, as: UTF8.self)
        guard isTold else { return Array(text.utf8) }
        let clock = "local clock = redis.call('TIME')\n"
        let parts = text.split(separator: clock, omittingEmptySubsequences: false)
        precondition(parts.count == 2, "the scripts read the clock in another way")
        let told = "local clock = {string.sub(ARGV[#ARGV], 1, -7), string.sub(ARGV[#ARGV], -6)}\n"
        return Array("\(parts[0])\(told)\(parts[1])".utf8)
    }

    func run(
        _ script: QuotaScript, keys: RedisWords, tag: ByteString, arguments: RedisWords,
        then: @escaping (Result<[ScriptValue], QuotaFailure>) -> Void
    ) {
        self.made.wrappingAdd(1, ordering: .relaxed)
        self.keys[script] = keys.count
        if let (failure, actsFirst) = self.failure {
            if actsFirst { _ = try? self.evaluate(script, keys, arguments) }
            return then(.failure(failure))
        }
        do {
            then(.success(try self.evaluate(script, keys, arguments)))
        } catch {
            Issue.record("\(script) failed: \(error)")
            then(.failure(.malformedAnswer))
        }
    }

    private func evaluate(
        _ script: QuotaScript, _ keys: RedisWords, _ arguments: RedisWords
    ) throws -> [ScriptValue] {
        let tail = [Array(String(keys.count).utf8)] + keys.words + arguments.words
        let full = Self.text(script, isTold: self.isTold)
        var reply = try self.connection.call([Array("EVALSHA".utf8), self.digest(of: script, full)] + tail)
        if case .error(let text) = reply, text.hasPrefix("MOVED"),
            let port = text.split(separator: ":").last.flatMap({ UInt16($0) })
        {
            // Another node of a cluster, which has not seen the script.
            let other = try self.others[port] ?? PlainRedis(port: port)
            self.others[port] = other
            reply = try other.call([Array("EVAL".utf8), full] + tail)
        } else if case .error(let text) = reply, text.hasPrefix("NOSCRIPT") {
            reply = try self.connection.call([Array("EVAL".utf8), full] + tail)
        }
        if case .bytes(let bytes) = reply, let values = ScriptValue.list(packed: bytes) { return values }
        guard case .array(let items) = reply else { throw ScriptFailed(reply: reply) }
        return items.map { item in
            switch item {
            case .integer(let number): .integer(number)
            case .bytes(let bytes): .text(ByteString(String(decoding: bytes, as: UTF8.self)))
            default: .text("")
            }
        }
    }

    private func digest(of script: QuotaScript, _ text: [UInt8]) throws -> [UInt8] {
        if let digest = self.digests[script] { return digest }
        guard case .bytes(let digest) = try self.connection.call([Array("SCRIPT".utf8), Array("LOAD".utf8), text])
        else { throw PlainRedis.Broken() }
        self.digests[script] = digest
        return digest
    }

    struct ScriptFailed: Error { let reply: PlainRedis.Reply }
}

/// A server of a test's own, on a socket in a temporary folder, without persistence.
final class PlainServer: Sendable {
    let path: String
    private let folder: TemporaryFolder
    let process: ChildProcess
    private let nextDatabase = Mutex(0)
    private static let databases = 4096

    init(_ extra: [String] = []) throws {
        self.folder = try TemporaryFolder()
        self.path = "\(self.folder.path)/s"
        self.process = try ChildProcess(
            "redis-server",
            [
                "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no", "--databases",
                "\(Self.databases)", "--dir", self.folder.path,
            ] + extra)
        for _ in 0..<200 {
            if let connection = try? PlainRedis(path: self.path), (try? connection.call("PING")) != nil { return }
            usleep(25_000)
        }
        throw PlainRedis.Broken()
    }

    deinit { self.process.signal(SIGKILL) }

    func connect(database: Int) throws -> PlainRedis {
        let connection = try PlainRedis(path: self.path)
        guard case .bytes = try connection.call("SELECT", "\(database)") else { throw PlainRedis.Broken() }
        return connection
    }

    /// An empty database.
    func database() -> Int {
        self.nextDatabase.withLock { next in
            next += 1
            return next % Self.databases
        }
    }

    /// One for all tests that need no other.
    static let shared: PlainServer? = try? PlainServer()
    static let loops: EventLoopGroup? = try? EventLoopGroup(count: 2)
}

/// A store over a database of its own, with a clock that the test turns.
struct RedisBench {
    let clock = TestClock()
    let database: Int
    let server: PlainServer
    /// For what no script does.
    let connection: PlainRedis
    let runner: PlainRunner
    let feed = ChangeFeed()
    let store: RedisStore
    let bench: StoreBench

    init(isTold: Bool = true, queueCapacity: Int = 4096) throws {
        self.server = try #require(PlainServer.shared)
        let loop = try #require(PlainServer.loops?.loops.first)
        self.database = self.server.database()
        self.connection = try self.server.connect(database: self.database)
        self.runner = PlainRunner(try self.server.connect(database: self.database), isTold: isTold)
        self.store = RedisStore(
            loop: loop, runner: self.runner, feed: self.feed, queueCapacity: queueCapacity,
            scriptClock: isTold ? .told(self.clock) : .server, clock: isTold ? self.clock : nil)
        self.bench = StoreBench(store: self.store, clock: TestStoreClock(clock: self.clock))
    }

    /// Does something on the store's loop, where its runner lives.
    func onLoop(_ body: @escaping () -> Void) async throws {
        let loop = try #require(PlainServer.loops?.loops.first)
        nonisolated(unsafe) let body = body
        await withUnsafeContinuation { continuation in
            loop.submit {
                body()
                continuation.resume()
            }
        }
    }

    /// Waits until something is so, turning the clock that the breaker goes by.
    func until(_ condition: () -> Bool) async throws {
        for _ in 0..<1000 {
            if condition() { return }
            self.clock.advance(by: .milliseconds(10))
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ContractBroken()
    }
}

/// Three masters that share the slots, each on a port of its own.
final class PlainCluster: Sendable {
    let ports: [UInt16]
    private let folders: [TemporaryFolder]
    private let processes: [ChildProcess]

    init() throws {
        var ports: [UInt16] = []
        var folders: [TemporaryFolder] = []
        var processes: [ChildProcess] = []
        for _ in 0..<3 {
            let folder = try TemporaryFolder()
            let port = try TestSocket.freePort()
            let bus = try TestSocket.freePort()
            processes.append(
                try ChildProcess(
                    "redis-server",
                    [
                        "--port", "\(port)", "--cluster-enabled", "yes", "--cluster-port", "\(bus)", "--save", "",
                        "--appendonly", "no", "--dir", folder.path, "--bind", "127.0.0.1",
                    ]))
            folders.append(folder)
            ports.append(port)
        }
        self.ports = ports
        self.folders = folders
        self.processes = processes
        let nodes = try ports.map { try Self.connect($0) }
        for (index, node) in nodes.enumerated() {
            _ = try node.call(
                "CLUSTER", "ADDSLOTSRANGE", "\(index * 5461)", "\(index == 2 ? 16383 : index * 5461 + 5460)")
            _ = try node.call("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for (port, node) in zip(ports, nodes).dropFirst() {
            let bus = try node.call("CONFIG", "GET", "cluster-port")
            guard case .array(let pair) = bus, case .bytes(let digits)? = pair.last else { throw PlainRedis.Broken() }
            _ = try nodes[0].call(
                "CLUSTER", "MEET", "127.0.0.1", "\(port)", String(decoding: digits, as: UTF8.self))
        }
        for _ in 0..<400 {
            let isReady = try nodes.allSatisfy { node in
                guard case .bytes(let info) = try node.call("CLUSTER", "INFO") else { return false }
                let text = String(decoding: info, as: UTF8.self)
                return text.contains("cluster_state:ok") && text.contains("cluster_known_nodes:3")
            }
            if isReady { return }
            usleep(50_000)
        }
        throw PlainRedis.Broken()
    }

    deinit { for process in self.processes { process.signal(SIGKILL) } }

    static func connect(_ port: UInt16) throws -> PlainRedis {
        for _ in 0..<200 {
            if let connection = try? PlainRedis(port: port), (try? connection.call("PING")) != nil { return connection }
            usleep(25_000)
        }
        throw PlainRedis.Broken()
    }

    func empty() throws { for port in self.ports { _ = try PlainRedis(port: port).call("FLUSHALL") } }
}

extension RedisWords {
    /// The words one by one.
    var words: [[UInt8]] {
        var words: [[UInt8]] = []
        var rest = self.bytes[...]
        while let end = rest.firstIndex(of: 13) {
            let length = Int(String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self)) ?? 0
            words.append(Array(rest[end + 2..<end + 2 + length]))
            rest = rest[(end + 4 + length)...]
        }
        return words
    }
}
