import GatewayTesting
import GatewayTypes
import Testing

@testable import Asking

@Suite("The embedded provider", .ownThread)
struct DemoTests {
    private static let text = "Tides come from the moon. The sun helps! Does the wind? No.\nStorms do."
    private let demo = Provider(name: "demo", dialect: .demo(wordDelay: .seconds(0)))

    @Test(arguments: ["improve", "summarize", "key-points", "titles", "unheard-of"] as [TaskName])
    func `The same text gets the same answer, streamed or not`(task: TaskName) async throws {
        let text = "Read this.\n<user_text>\n\(Self.text)\n</user_text>"
        try await withBench { bench in
            let slow = Provider(name: "demo", dialect: .demo(wordDelay: .milliseconds(1)))
            let first = try await bench.hear(
                self.demo, stream: false, request: .sample(text, task: task, stream: false))
            let streamed = try await bench.hear(slow, request: .sample(text, task: task))
            #expect(first.isWhole && !first.text.isEmpty && first.end?.finish == .stop)
            #expect(streamed.isWhole && streamed.text == first.text && streamed.pauses > 1)
            #expect(first.end?.usage?.source == .provider && first.end?.usage == streamed.end?.usage)
            #expect(!first.text.contains("user_text") && !first.text.contains("Read this"))
        }
    }

    @Test func `Tasks differ in what they say`() async throws {
        try await withBench { bench in
            var answers: Set<String> = []
            for task in ["improve", "summarize", "key-points", "titles"] as [TaskName] {
                answers.insert(try await bench.hear(self.demo, request: .sample(Self.text, task: task)).text)
            }
            #expect(answers.count == 4)
        }
    }

    @Test(arguments: ["", " ", "\n\n", "<user_text>", "<user_text></user_text>", "۱۲۳", "👩‍👩‍👧", "!!!", "a"])
    func `Any text gets an end`(text: String) async throws {
        try await withBench { bench in
            for task in ["summarize", "key-points", "titles", "other"] as [TaskName] {
                let heard = try await bench.hear(self.demo, request: .sample(text, task: task))
                #expect(heard.end?.failure == nil || heard.end?.failure == .emptyAnswer)
            }
        }
    }

    @Test(arguments: [1, 3]) func `The output cap holds`(cap: Int) async throws {
        try await withBench { bench in
            let heard = try await bench.hear(self.demo, request: .sample(Self.text, cap: cap))
            #expect(heard.text.split(separator: " ").count == cap)
            #expect(heard.end?.usage?.output == cap)
        }
    }

    @Test func `A cap of nothing gets nothing`() async throws {
        try await withBench { bench in
            for cap in [0, -1] {
                let heard = try await bench.hear(self.demo, request: .sample(Self.text, cap: cap))
                #expect(heard.end?.failure == .emptyAnswer)
            }
        }
    }

    @Test func `It can be paused, let go on and cancelled like any other`() async throws {
        let slow = Provider(name: "demo", dialect: .demo(wordDelay: .milliseconds(2)))
        try await withBench { bench in
            let ask = try await bench.start(slow, request: .sample(Self.text))
            #expect(Stopwatch.wait(upTo: .seconds(10)) { ask.heard.count > 0 })
            try await bench.run { _ in ask.ask?.setPaused(true) }
            let count = ask.heard.count
            Stopwatch.sleep(milliseconds: 100)
            #expect(ask.heard.count == count && ask.heard.ends.isEmpty)
            try await bench.run { _ in ask.ask?.setPaused(false) }
            #expect(ask.ends() && ask.heard.isWhole && !ask.heard.isOutOfOrder)
            let never = Provider(name: "demo", dialect: .demo(wordDelay: .seconds(60)))
            let other = try await bench.start(never, request: .sample(Self.text))
            #expect(Stopwatch.wait(upTo: .seconds(10)) { other.heard.count > 0 })
            try await bench.run { _ in other.ask?.cancel() }
            #expect(other.heard.end?.wasCancelled == true && other.heard.ends.count == 1)
        }
    }
}
