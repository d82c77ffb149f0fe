import GatewayTypes
import HTTPCodec
import Testing

@testable import Gateway

/// What one instance signs, and what another one takes.
@Suite("Signatures of hops")
struct HopSignatureTests {
    private static let secret = Secret("a-secret-of-more-than-thirty-two-bytes")
    private static let question = RequestID(high: 0x0123_4567_89AB_CDEF, low: 42)
    private static let time: Int64 = 1_800_000_000

    private static func request(_ command: HopCommand, subject: SubjectID = "user-1") -> HopRequest {
        HopRequest(
            command: command, owner: QuestionOwner(tenant: "acme", subject: subject), language: .korean,
            seconds: Self.time, nonce: RequestID(high: 7, low: 9))
    }

    private static let commands: [HopCommand] = [
        .follow(Self.question, after: nil), .follow(Self.question, after: 0), .follow(Self.question, after: 4711),
        .cancel(Self.question),
        .repeated(Self.question, HopForm(form: .process, streams: true, reportsUsage: false, task: "kept")),
        .repeated(Self.question, HopForm(form: .question, streams: false, reportsUsage: false, task: "a.b_c-1")),
        .repeated(Self.question, HopForm(form: .chat, streams: true, reportsUsage: true, task: "kept")),
        .repeated(Self.question, HopForm(form: .chat, streams: false, reportsUsage: false, task: "kept")),
    ]

    private static func keys(_ secrets: Secret...) throws -> HopKeys { try #require(HopKeys(secrets)) }

    /// The head of a hop as it comes in.
    private static func head(
        _ request: HopRequest, signature: [UInt8], without: String? = nil
    ) throws -> HTTPRequestHead {
        var lines = "\(request.command.method.rawValue) \(text(request.command.target)) HTTP/1.1\r\nHost: a\r\n"
        for (name, value) in request.fields(signature: signature) where name != without {
            lines += "\(name): \(value.reveal { text($0) })\r\n"
        }
        return try Self.parse(lines + "\r\n")
    }

    private static func parse(_ text: String) throws -> HTTPRequestHead {
        let bytes = Array(text.utf8)
        guard case .head(let head, _) = RequestHeadParser.parse(bytes.span, limits: HTTPLimits()) else {
            throw Unread()
        }
        return head
    }

    private struct Unread: Error {}

    private static func judge(
        _ head: HTTPRequestHead, _ keys: HopKeys, by door: HopGuard = HopGuard(), at seconds: Int64 = Self.time
    ) -> Result<HopRequest, HopGuard.Refusal> {
        Result { () throws(HopGuard.Refusal) in
            try door.judge(
                head, keys: keys, wall: WallTime(seconds: seconds),
                now: MonotonicTime(nanoseconds: (seconds - Self.time) * 1_000_000_000))
        }
    }

    @Test(arguments: Self.commands)
    func `What is sent is what comes in`(command: HopCommand) throws {
        for subject: SubjectID in ["user-1", "кто-то: \u{1F319}", "a\nb"] {
            let request = Self.request(command, subject: subject)
            let keys = try Self.keys(Self.secret)
            let head = try Self.head(request, signature: keys.sign(request))
            #expect(try Self.judge(head, keys).get() == request)
        }
    }

    @Test func `The signature is the one that another program computes`() throws {
        let request = Self.request(.follow(Self.question, after: 3))
        let signature = try Self.keys(Self.secret).sign(request)
        #expect(
            signature.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == "4b72f0e08b2b470e5b3028ca001436ee7aab2fc5913e6dd44f744a85a01284fd")
    }

    @Test func `Any other hop has another signature`() throws {
        let keys = try Self.keys(Self.secret)
        var signed = Set(Self.commands.map { keys.sign(Self.request($0)) })
        #expect(signed.count == Self.commands.count)
        let base = Self.request(Self.commands[0])
        let others = [
            HopRequest(
                command: base.command, owner: QuestionOwner(tenant: "acm", subject: "euser-1"), language: .korean,
                seconds: base.seconds, nonce: base.nonce),
            HopRequest(
                command: base.command, owner: QuestionOwner(tenant: "borealis", subject: "user-1"), language: .korean,
                seconds: base.seconds, nonce: base.nonce),
            HopRequest(
                command: base.command, owner: base.owner, language: .english, seconds: base.seconds, nonce: base.nonce),
            HopRequest(
                command: base.command, owner: base.owner, language: .korean, seconds: base.seconds + 1,
                nonce: base.nonce),
            HopRequest(
                command: base.command, owner: base.owner, language: .korean, seconds: base.seconds,
                nonce: RequestID(high: 7, low: 10)),
        ]
        for other in others { #expect(signed.insert(keys.sign(other)).inserted) }
    }

    @Test func `A hop is taken once, within half a minute of its time, and every bit of its signature counts`() throws {
        let keys = try Self.keys(Self.secret)
        let request = Self.request(Self.commands[0])
        let signature = keys.sign(request)
        let head = try Self.head(request, signature: signature)
        let door = HopGuard()
        for seconds in [-31, 31, -3600, -1_700_000_000] as [Int64] {
            #expect(Self.judge(head, keys, by: HopGuard(), at: Self.time &+ seconds) == .failure(.stale))
        }
        for bit in 0..<(signature.count * 8) {
            var forged = signature
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            let head = try Self.head(request, signature: forged)
            #expect(Self.judge(head, keys, by: door, at: Self.time - 30) == .failure(.badSignature))
        }
        for forged in [[], Array(signature.dropLast()), signature + [0]] {
            let head = try Self.head(request, signature: forged)
            #expect(Self.judge(head, keys, by: door, at: Self.time - 30) == .failure(.badSignature))
        }
        #expect(Self.judge(head, keys, by: door, at: Self.time - 30) == .success(request))
        #expect(Self.judge(head, keys, by: door, at: Self.time) == .failure(.replayed))
        #expect(Self.judge(head, keys, by: door, at: Self.time + 30) == .failure(.replayed))
    }

    @Test func `A clock that is set back makes no old hop fresh`() throws {
        let keys = try Self.keys(Self.secret)
        let request = Self.request(Self.commands[0])
        let head = try Self.head(request, signature: keys.sign(request))
        let door = HopGuard()
        #expect(Self.judge(head, keys, by: door, at: Self.time + 120) == .failure(.stale))
        #expect(Self.judge(head, keys, by: door, at: Self.time) == .failure(.stale))
        // By less than the window, and what is signed now is taken.
        let other = HopGuard()
        #expect(Self.judge(head, keys, by: other, at: Self.time + 20) == .success(request))
        #expect(Self.judge(head, keys, by: other, at: Self.time - 5) == .failure(.replayed))
    }

    @Test func `Either of two secrets opens, the first signs, and a short one is none`() throws {
        let (old, new) = (Self.secret, Secret("the-secret-that-comes-after-it-of-32-bytes"))
        let request = Self.request(Self.commands[0])
        let (before, both, after) = (try Self.keys(old), try Self.keys(new, old), try Self.keys(new))
        #expect(both.sign(request) == after.sign(request) && both.sign(request) != before.sign(request))
        #expect(both.areOf(before.sign(request), request) && both.areOf(after.sign(request), request))
        #expect(!before.areOf(after.sign(request), request) && !after.areOf(before.sign(request), request))
        #expect(HopKeys([]) == nil)
        #expect(HopKeys([Secret(Array(repeating: 7, count: 31))]) == nil)
        #expect(HopKeys([old, Secret("short")]) == nil)
        #expect(HopKeys([old, new, old]) == nil)
        #expect(HopKeys([Secret(Array(repeating: 7, count: 32))]) != nil)
    }

    @Test(arguments: ["askgate-tenant", "askgate-subject", "askgate-time", "askgate-nonce", "askgate-signature"])
    func `A hop without one of its fields is none`(field: String) throws {
        let keys = try Self.keys(Self.secret)
        let request = Self.request(Self.commands[0])
        let head = try Self.head(request, signature: keys.sign(request), without: field)
        #expect(Self.judge(head, keys) == .failure(.malformed))
    }

    @Test(arguments: [
        "GET /hop/v1/questions/ HTTP/1.1", "GET /hop/v1/questions/0123 HTTP/1.1",
        "POST /hop/v1/questions/0123456789abcdef000000000000002a HTTP/1.1",
        "GET /hop/v1/questions/0123456789abcdef000000000000002a?x=1 HTTP/1.1",
        "GET /hop/v1/questions/0123456789abcdef000000000000002a/ HTTP/1.1",
        "GET /hop/v1/questions/0123456789ABCDEF000000000000002A HTTP/1.1",
        "DELETE /hop/v1/repeats/0123456789abcdef000000000000002a/ps/a2VwdA HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a/ HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a/p HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a/ps HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a/xs/a2VwdA HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a/px/a2VwdA HTTP/1.1",
        "GET /hop/v1/repeats/0123456789abcdef000000000000002a/ps/a2VwdA= HTTP/1.1",
        "GET /v1/questions/0123456789abcdef000000000000002a HTTP/1.1", "GET /metrics HTTP/1.1",
    ])
    func `Nothing else is a command`(line: String) throws {
        #expect(HopCommand(try Self.parse(line + "\r\nHost: a\r\n\r\n")) == nil)
    }

    @Test func `A last event of another question, or two of them, are no command`() throws {
        let line = "GET /hop/v1/questions/\(Self.question) HTTP/1.1\r\nHost: a\r\n"
        let (own, other) = ("last-event-id: \(Self.question)-1\r\n", "last-event-id: \(RequestID.random())-1\r\n")
        #expect(HopCommand(try Self.parse(line + own + "\r\n")) == .follow(Self.question, after: 1))
        for fields in [other, own + own, "last-event-id: \r\n", "last-event-id: 1\r\n"] {
            #expect(HopCommand(try Self.parse(line + fields + "\r\n")) == nil)
        }
    }
}

/// Words that are said once.
@Suite("Nonces of hops")
struct NonceMemoryTests {
    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
    private func nonce(_ number: Int) -> RequestID { RequestID(high: 1, low: UInt64(number)) }

    @Test func `Each is new once, for longer than its hop can be taken`() {
        for start in 0..<130 {
            let memory = NonceMemory()
            // Turns come with what is taken, wherever that lies in them.
            for second in 0..<start { _ = memory.take(self.nonce(1000 + second), at: self.at(Int64(second))) }
            #expect(memory.take(self.nonce(1), at: self.at(Int64(start))) == .new)
            for later in [0, 1, 30, 60, 91] {
                #expect(memory.take(self.nonce(1), at: self.at(Int64(start + later))) == .seen)
            }
        }
    }

    @Test func `They are forgotten, and no more than so many are held`() {
        let memory = NonceMemory(most: 100)
        for number in 0..<100 { #expect(memory.take(self.nonce(number), at: self.at(0)) == .new) }
        #expect(memory.take(self.nonce(100), at: self.at(1)) == .full)
        #expect(memory.take(self.nonce(5), at: self.at(1)) == .seen)
        #expect(memory.take(self.nonce(100), at: self.at(93)) == .new)
        #expect(memory.take(self.nonce(5), at: self.at(93)) == .seen)
        #expect(memory.take(self.nonce(5), at: self.at(300)) == .new)
    }
}
