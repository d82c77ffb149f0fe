import GatewayTesting
import GatewayTypes
import JSON
import Synchronization
import Testing

/// Clients that go away at any point of their asks, many at a time.
@Suite("Clients that hang up", .oneOfFewThreads, .serialized, .gateway(.hangingUp), .tags(.memory))
struct HangUpTests {
    @Test func `A thousand that hang up leave no slot, no reservation, no provider's call and no descriptor behind`()
        throws
    {
        let gateway = try TestGateway.current
        let crowd = Crowd(gateway)
        for task in ["summarize", "late"] { #expect(try gateway.ask(Ask("warm", task: task)).status == 200) }
        #expect(Sockets(of: gateway).becomeQuiet())
        let before = Sockets(of: gateway).descriptors
        crowd.hangUp(clients: 1000, seed: 7)
        #expect(crowd.tardy == 0, "calls of the provider went on for seconds after their client had left")
        for caller in crowd.callers { #expect(try gateway.isIdle(caller, within: .seconds(10))) }
        // Every call that was begun has ended, and those that go on without their client to their end.
        #expect(Stopwatch.wait(upTo: .seconds(10)) { crowd.calls.allSatisfy { $0.end != nil } })
        #expect(crowd.calls.count > 300, "hardly anybody left during an answer")
        let finishing = crowd.finishing.flatMap(\.calls)
        #expect(finishing.count > 100 && finishing.allSatisfy { $0.end == .sent })
        #expect(crowd.aborting.flatMap(\.calls).count { $0.end == .peerClosed } > 10)
        #expect(
            Stopwatch.wait(upTo: .seconds(5), every: 50) {
                gateway.process.metrics.value("askgate_in_flight_asks") == 0
            })
        let metrics = gateway.process.metrics
        #expect(metrics.value("askgate_leases") == 0)
        #expect(metrics.value("askgate_reservations_leaked_total") == 0)
        #expect(Sockets(of: gateway).becomeQuiet(), "connections of clients are left")
        // The admin connection that was asked for metrics, or a file read just then, may be among them for a moment.
        #expect(
            Stopwatch.wait(upTo: .seconds(10), every: 50) { Sockets(of: gateway).descriptors <= before },
            "\(Sockets(of: gateway).descriptors) descriptors, \(before) before")
        try self.checkCharges(crowd, gateway)
        for task in ["summarize", "late"] { #expect(try gateway.ask(Ask("after", task: task)).status == 200) }
    }

    /// What is charged to the callers is what the records of their asks say: no reservation is left.
    private func checkCharges(_ crowd: Crowd, _ gateway: TestGateway) throws {
        let records = gateway.process.records
        for caller in crowd.callers {
            let own = records.filter { $0["subject"]?.string == caller.subject && $0["provider"]?.string != nil }
            #expect(own.count > 100)
            let tokens = own.reduce(0) { sum, record in
                sum + (record["input_tokens"]?.int ?? 0) + (record["output_tokens"]?.int ?? 0)
            }
            #expect(try gateway.charged(to: caller) == tokens)
        }
    }

    @Test func `A second thousand leaves no memory behind`() throws {
        let gateway = try TestGateway.current
        let crowd = Crowd(gateway)
        var sizes: [Int] = []
        for seed: UInt64 in [21, 22, 21] {
            crowd.hangUp(clients: 1000, seed: seed)
            for caller in crowd.callers { #expect(try gateway.isIdle(caller, within: .seconds(10))) }
            sizes.append(gateway.process.child.residentMemory)
        }
        // A kilobyte for each of them would be seen; the heap's own pages come and go.
        #expect(min(sizes[1] - sizes[0], sizes[2] - sizes[1]) < 1 << 20, "\(sizes)")
    }
}

/// Clients that leave, each at a point of its own, and what the provider sees of them.
private final class Crowd: Sendable {
    private static let threads = 40

    let gateway: TestGateway
    /// Whose asks end with their client, and whose go on.
    let callers = [Caller(), Caller()]
    let aborting: [ProviderScript]
    let finishing: [ProviderScript]
    private let markers: [String]
    private let slow = Atomic<Int>(0)

    init(_ gateway: TestGateway) {
        let markers = (0..<Self.threads).map { Caller.unique("leaver-\($0)") }
        self.gateway = gateway
        self.markers = markers
        self.aborting = markers.map { gateway.provider.script($0 + "-abort") { Self.reply(to: $0, $1) } }
        self.finishing = markers.map { gateway.provider.script($0 + "-late") { Self.reply(to: $0, $1) } }
    }

    var calls: [ProviderCall] { (self.aborting + self.finishing).flatMap(\.calls) }
    /// Calls that went on long after their client, though they should have ended with it; a second is promised, and a
    /// machine that runs other tests too gets three.
    var tardy: Int { self.slow.load(ordering: .relaxed) }

    func hangUp(clients: Int, seed: UInt64) {
        _ = OwnThread.together(Self.threads) { thread in
            var dice = Dice(state: seed &* 1000 &+ UInt64(thread))
            for _ in 0..<(clients / Self.threads) {
                let finishes = Bool.random(using: &dice)
                self.leave(finishes: finishes, thread: thread, &dice)
                guard !finishes else { continue }
                let script = self.aborting[thread]
                if !Stopwatch.wait(upTo: .seconds(5), until: { script.calls.allSatisfy { $0.end != nil } }) {
                    self.slow.add(1, ordering: .relaxed)
                }
            }
        }
    }

    private func leave(finishes: Bool, thread: Int, _ dice: inout Dice) {
        let streams = Int.random(in: 0..<5, using: &dice) > 0
        let wire = self.request(finishes: finishes, streams: streams, thread: thread, &dice)
        let point = Int.random(in: 0..<8, using: &dice)
        let isStalled = point == 7
        guard let client = try? self.gateway.client(limit: .seconds(5), receiveBuffer: isStalled ? 4096 : nil) else {
            return
        }
        defer { client.close(reset: Bool.random(using: &dice)) }
        if point == 0 {
            try? client.send(wire.prefix(Int.random(in: 1..<wire.count, using: &dice)))
            return Stopwatch.sleep(milliseconds: Int.random(in: 0..<10, using: &dice))
        }
        try? client.send(wire)
        switch point {
        case 1: return
        case 2, 7: Stopwatch.sleep(milliseconds: Int.random(in: 0..<80, using: &dice))
        case 3: _ = try? client.head()
        default:
            guard (try? client.head())?.status == 200 else { return }
            for _ in 0..<Int.random(in: 0..<20, using: &dice) { if (try? client.piece()) == nil { return } }
        }
        // Some say that they will send no more, and are gone a moment later.
        if Int.random(in: 0..<4, using: &dice) == 0 {
            client.finish()
            Stopwatch.sleep(milliseconds: Int.random(in: 0..<10, using: &dice))
        }
    }

    private func request(finishes: Bool, streams: Bool, thread: Int, _ dice: inout Dice) -> [UInt8] {
        let text = "The harbour opened at dawn. \(self.markers[thread])-\(finishes ? "late" : "abort")"
        let stream = streams ? #","stream":true"# : ""
        let (path, body) =
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: ("/api/process", #"{"task":"\#(finishes ? "late" : "summarize")","text":"\#(text)"\#(stream)}"#)
            case 1:
                ("/v1/questions", #"{"agent":"\#(finishes ? "patient" : "answer")","question":"\#(text)"\#(stream)}"#)
            default:
                (
                    "/v1/chat/completions",
                    TestGateway.chatBody(
                        "\(self.markers[thread])-\(finishes ? "late" : "abort")",
                        model: finishes ? "late" : "summarize", more: stream)
                )
            }
        return Array(
            ("POST \(path) HTTP/1.1\r\nHost: gateway.test\r\nContent-Type: application/json\r\n"
                + "Authorization: \(self.callers[finishes ? 1 : 0].authorization.value)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }

    /// Silence, words with pauses, or more at once than a client takes; each ends by itself within a second or two.
    private static func reply(to call: ProviderCall, _ number: Int) -> ProviderReply {
        guard call.wantsStream else { return .answer("ok", delay: number % 3 * 80) }
        return self.streams[number % self.streams.count]
    }

    /// Made once: there are many calls, and they share the machine with the gateway.
    private static let streams: [ProviderReply] = {
        let burst = OpenAIShapes.stream((0..<4000).map { "word number \($0), " }).joined()
        let late = OpenAIShapes.stream((0..<10).map { "late \($0) " }).map { ProviderStep.send($0) }
        let steady = ProviderReply.stream((0..<80).map { "w\($0) " }, gap: 5)
        return [
            .events([.hold(milliseconds: 20), .send(burst)]), .events([.hold(milliseconds: 150)] + late), steady,
            steady,
        ]
    }()
}

/// The sockets of a gateway's process, seen from outside.
private struct Sockets {
    private let child: ChildProcess
    private let port: UInt16
    private let provider: UInt16

    init(of gateway: TestGateway) {
        self.child = gateway.process.child
        self.port = gateway.process.port
        self.provider = gateway.provider.port
    }

    /// Waits until no client's connection is open.
    func becomeQuiet() -> Bool {
        Stopwatch.wait(upTo: .seconds(10), every: 50) { self.count { $0.local == self.port && !$0.listens } == 0 }
    }

    /// What the gateway holds open besides its connections to the provider.
    var descriptors: Int { self.child.openDescriptors - self.toProvider }

    /// Open to the provider, in use or kept for the next call.
    private var toProvider: Int { self.count { $0.remote == self.provider } }

    private func count(_ wanted: ((local: UInt16?, remote: UInt16?, listens: Bool)) -> Bool) -> Int {
        guard let table = TemporaryFolder.read("/proc/net/tcp") else { return -1 }
        return table.split(separator: 10).dropFirst().count { line in
            let fields = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
            // Without an inode the socket belongs to no process any more.
            guard fields.count > 9, fields[9] != "0" else { return false }
            return wanted((Self.port(fields[1]), Self.port(fields[2]), fields[3] == "0A"))
        }
    }

    private static func port(_ address: String) -> UInt16? {
        address.split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
    }
}

/// SplitMix64: the same clients in every run.
private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var word = self.state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

extension GatewaySettings {
    /// With an agent whose answer goes on without its client, beside one whose answer does not.
    fileprivate static var hangingUp: Self {
        var settings = Self.questions
        settings.tasks.append(
            "patient: {prompt: {instruction: Answer.}, text: {min_characters: 1}, on_disconnect: finish, "
                + "routes: [{provider: main, model: m-patient}]}")
        return settings
    }
}
