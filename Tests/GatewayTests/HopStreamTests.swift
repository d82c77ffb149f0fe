import GatewayTypes
import Quota
import Testing

@testable import Gateway

/// What is handed on of a stream from another instance.
@Suite("Streams of hops")
struct HopStreamTests {
    private static let question = RequestID(high: 1, low: 2)

    private static func stream(_ end: (inout [UInt8]) -> Void) -> [UInt8] {
        let events = AnswerEvents(questionID: Self.question)
        var bytes: [UInt8] = []
        events.appendNumber(0, to: &bytes)
        events.appendStart(to: &bytes)
        for (number, word) in ["one", "two\n\nlines", "\"code\":\"draining\""].enumerated() {
            events.appendNumber(number + 1, to: &bytes)
            events.appendAnswer(delta: Array(word.utf8).span, isFinal: false, to: &bytes)
            bytes += Array(": ping\n\n".utf8)
        }
        end(&bytes)
        return bytes
    }

    private static let finished = Self.stream {
        AnswerEvents(questionID: Self.question).appendFinish(usage: nil, to: &$0)
    }

    @Test func `Whole events come through however they were cut, and nothing of half a one`() {
        let bytes = Self.finished
        for size in 1...bytes.count {
            var tail = EventTail()
            var handed: [UInt8] = []
            var start = 0
            while start < bytes.count {
                let piece = bytes[start..<min(start + size, bytes.count)]
                handed += tail.take(piece)
                start += size
                #expect(handed.isEmpty || text(handed).hasSuffix("\n\n"))
                #expect(handed.count + tail.heldBytes == min(start, bytes.count))
            }
            #expect(handed == bytes && tail.last == .finished && tail.heldBytes == 0)
        }
    }

    @Test func `A stream is open until an event says its end`() {
        for cut in 0..<Self.finished.count {
            var tail = EventTail()
            _ = tail.take(Self.finished[..<cut])
            #expect(tail.last == .open)
        }
    }

    @Test(arguments: ErrorCode.allCases)
    func `An error tells its code, on our own routes and on others`(code: ErrorCode) {
        for format in [AnswerFormat.own, .openAI] {
            for language in Language.allCases {
                var tail = EventTail()
                let answer = ErrorAnswer(code)
                let bytes = Self.stream {
                    answer.appendEvent(to: &$0, format: format, language: language, questionID: Self.question)
                }
                #expect(tail.take(bytes) == bytes)
                let isRenamed = format == .openAI && (code == .unknownTask || code == .taskNotInPlan)
                #expect(tail.last == .failed(isRenamed ? .internalError : code))
            }
        }
    }

    @Test func `The end of a chat completion is one, its text is none`() {
        var tail = EventTail()
        _ = tail.take(Array("data: {\"text\":\"data: [DONE]\"}\n\n".utf8))
        #expect(tail.last == .open)
        _ = tail.take(Array("data: [DONE]\n\n".utf8))
        #expect(tail.last == .finished)
    }

    // MARK: Answers in one piece

    @Test func `An answer in one piece comes behind signs of life, to the byte`() throws {
        for body in ["", "{}", "answer\n", "\n\n", "failure internal 0\n"] {
            var bytes: [UInt8] = []
            for _ in 0..<3 { HopFrame.heartbeat(to: &bytes) }
            HopFrame.append(answer: Array(body.utf8), to: &bytes)
            guard case .answer(let read)? = HopFrame.content(of: bytes) else {
                Issue.record("no answer")
                continue
            }
            #expect(text(read) == body)
        }
    }

    @Test(arguments: ErrorCode.allCases)
    func `A failure comes with its code and wait`(code: ErrorCode) throws {
        for seconds in [nil, 1, 30] {
            var failure = AskFailure(code)
            failure.retryAfterSeconds = seconds
            var bytes: [UInt8] = []
            HopFrame.append(failure, to: &bytes)
            guard case .failure(let read)? = HopFrame.content(of: bytes) else {
                Issue.record("no failure")
                continue
            }
            #expect(read.code == code && read.retryAfterSeconds == seconds)
        }
    }

    @Test(arguments: [
        "", "\n\n", "answe", "failure", "failure internal 0", "failure no_such_code 0\n", "failure internal x\n",
    ])
    func `Half a frame is none`(frame: String) { #expect(HopFrame.content(of: Array(frame.utf8)) == nil) }
}

/// Where instances are found.
@Suite("Directory of instances")
struct InstanceDirectoryTests {
    /// Counts what the store is asked.
    private final class Book: InstanceBook, @unchecked Sendable {
        // Unchecked: each test uses it from one task only.
        var addresses: [UInt32: ByteString] = [:]
        var isAway = false
        var questions = 0

        func register(_ instance: UInt32, at address: ByteString, lifetime: TimeSpan) async throws(QuotaFailure) {}

        func address(of instance: UInt32) async throws(QuotaFailure) -> ByteString? {
            self.questions += 1
            if self.isAway { throw .timedOut }
            return self.addresses[instance]
        }
    }

    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test func `The store is asked once in a few seconds, and again for what proved wrong`() async throws {
        let book = Book()
        let directory = InstanceDirectory(book)
        book.addresses[1] = "10.0.0.1:8081"
        for time in [0, 1, 2999] as [Int64] {
            #expect(try await directory.address(of: 1, at: self.at(time)) == "10.0.0.1:8081")
            #expect(try await directory.address(of: 2, at: self.at(time)) == nil)
        }
        #expect(book.questions == 2)
        book.addresses[1] = nil
        #expect(try await directory.address(of: 1, at: self.at(3001)) == nil)
        directory.forget(2)
        book.addresses[2] = ""
        #expect(try await directory.address(of: 2, at: self.at(2999)) == "")
        #expect(book.questions == 4)
    }

    @Test func `What the store did not say is not remembered, and few names are held`() async throws {
        let book = Book()
        let directory = InstanceDirectory(book)
        book.isAway = true
        await #expect(throws: QuotaFailure.timedOut) { try await directory.address(of: 1, at: self.at(0)) }
        book.isAway = false
        book.addresses[1] = "a:1"
        #expect(try await directory.address(of: 1, at: self.at(0)) == "a:1")
        for name in 2..<5000 as Range<UInt32> {
            _ = try await directory.address(of: name, at: self.at(Int64(name)))
            #expect(directory.count <= 256)
        }
    }

    @Test(arguments: [
        ("10.0.0.1:8081", true), ("gw-1.internal:8081", true), ("[::1]:8081", true), ("10.0.0.1", false), ("", false),
        ("a:1/x", false), ("user@a:1", false), ("a:1?x", false), ("a:1 b", false), ("a:1\r\nx", false), ("a:1#", false),
        (String(repeating: "a", count: 300) + ":1", false),
    ])
    func `An address is a host and a port and nothing else`(text: String, isGood: Bool) {
        #expect(HopClient.isAddress(ByteString(text)) == isGood)
    }
}
