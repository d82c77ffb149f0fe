import EventLoops
import GatewayTypes

/// One answer of the embedded provider: told word by word when streamed. On its loop.
final class DemoAnswer: LocalAnswer {
    private let loop: EventLoop
    private let wordDelay: TimeSpan
    private let streams: Bool
    private let usage: TokenUsage
    private let finish: FinishReason
    private var words: [String]
    private var position = 0
    private let timer = LoopTimer()
    private weak var ask: Ask?
    private var isPaused = false

    init(to request: AskRequest, wordDelay: TimeSpan, loop: EventLoop) {
        self.loop = loop
        self.wordDelay = wordDelay
        self.streams = request.streams
        var answer = DemoText.answer(to: request.task, text: DemoText.userText(in: request.prompt))
        for stop in request.stop {
            if let place = answer.firstRange(of: String(decoding: stop, as: UTF8.self)) {
                answer = String(answer[..<place.lowerBound])
            }
        }
        let all = Self.pieces(of: answer)
        let words = all.prefix(max(0, request.outputCap))
        self.words = Array(words)
        self.finish = words.count < all.count ? .length : .stop
        let input = request.prompt.user.count { $0 == 0x20 || $0 == 0x0A } + 1
        self.usage = TokenUsage(input: input, output: words.count, source: .provider)
    }

    /// Words, each with the space before it.
    private static func pieces(of text: String) -> [String] {
        var pieces: [String] = []
        var current = ""
        for character in text {
            if character == " " || character == "\n", !current.isEmpty {
                pieces.append(current)
                current = ""
            }
            current.append(character)
        }
        if !current.isEmpty { pieces.append(current) }
        return pieces
    }

    /// Begins to answer on the loop's next turn.
    func start(into ask: Ask) {
        self.ask = ask
        self.timer.action = { [weak self] in self?.step() }
        self.loop.later { [weak self] in self?.step() }
    }

    func setPaused(_ paused: Bool) {
        guard paused != self.isPaused else { return }
        self.isPaused = paused
        if !paused { self.loop.later { [weak self] in self?.step() } }
    }

    func cancel() {
        self.ask = nil
        self.loop.remove(self.timer)
    }

    private func step() {
        guard let ask = self.ask, !self.isPaused else { return }
        while self.position < self.words.count {
            var word = self.words[self.position]
            self.position += 1
            word.withUTF8 { ask.decodedText($0) }
            guard self.streams, self.wordDelay.nanoseconds > 0 else { continue }
            ask.pausedWords()
            return self.loop.arm(self.timer, after: self.wordDelay)
        }
        ask.decodedUsage(self.usage)
        ask.decodedFinish(self.finish)
        ask.decodedEnd()
    }
}
