import Asking
import GatewayTesting
import GatewayTypes
import Glibc
import Synchronization

/// What an app heard of one question, in order.
final class Diary: Sendable {
    private let lines = Mutex<[String]>([])
    private let text = Mutex("")
    private let threads = Mutex<Set<UInt>>([])

    var all: [String] { self.lines.withLock { $0 } }
    var fullText: String { self.text.withLock { $0 } }
    var ends: [String] { self.all.filter { $0.hasPrefix("finish") || $0.hasPrefix("error") } }

    /// The threads that callbacks came on.
    var callers: Set<UInt> { self.threads.withLock { $0 } }

    func write(_ line: String) {
        self.lines.withLock { $0.append(line) }
        _ = self.threads.withLock { $0.insert(UInt(pthread_self())) }
    }

    /// Sends a question and notes every callback.
    func send(
        _ client: AskingClient, _ question: String, agent: String? = nil,
        onAnswer: @escaping @Sendable (String) -> Void = { _ in }
    ) -> String? {
        client.send(
            question: question, config: AskingConfig(specifiedAgent: agent),
            onStartAnswering: { id in self.write("start \(id ?? "-")") },
            onAnswer: { id, delta, full, isFinal in
                self.write("\(isFinal ? "final" : "answer") \(id)")
                let sum = self.text.withLock { text in
                    text += delta ?? ""
                    return text
                }
                if full != sum { self.write("the whole is not its parts") }
                onAnswer(id)
            },
            onFinishAnswering: { self.write("finish \($0)") },
            onError: { id, error in self.write("error \(id) \(error)") })
    }

    func waitForEnd() -> Bool { Stopwatch.wait(upTo: .seconds(15)) { !self.ends.isEmpty } }
}
