import Asking
import EventLoops
import GatewayTypes
import Synchronization

/// One provider call whose answer several asks wait for, and which may be kept.
///
/// Only when the last ask has left is the call given up. The first one pays, and when that leaves, the next.
final class CachedCall: SharedAnswer, @unchecked Sendable {
    // Unchecked: has no state of its own.
    let key: CacheKey
    let streams: Bool
    let lifetime: TimeSpan
    private let cache: AnswerCache

    init(
        key: CacheKey, streams: Bool, lifetime: TimeSpan, cache: AnswerCache, loop: EventLoop,
        reporter: AttemptReporter?
    ) {
        self.key = key
        self.streams = streams
        self.lifetime = lifetime
        self.cache = cache
        super.init(loop: loop, keepsPieces: false, reporter: reporter)
    }

    override func mayHold(text: Int, pieces: Int) -> Bool { text <= self.cache.bounds.answerBytes }

    override func closed() { self.cache.close(self) }

    override func emptied() {
        let isGivenUp = self.state.withLock { state in
            guard state.members.isEmpty, state.end == nil else { return false }
            state.isOpen = false
            return true
        }
        guard isGivenUp else { return }
        self.cache.close(self)
        self.onLoop { self.ask?.cancel() }
    }

    override func callEnded(_ end: AskEnd) {
        let kept = self.state.withLock { state -> KeptAnswer? in
            defer {
                state.end = end
                state.isOpen = false
            }
            guard state.isOpen, end.failure == nil, !end.wasCancelled, let finish = end.finish,
                finish == .stop || finish == .length
            else { return nil }
            return KeptAnswer(text: state.text, finish: finish, usage: end.usage)
        }
        if let kept {
            self.cache.keep(kept, of: self, now: self.loop.clock.monotonicTime())
        } else {
            self.cache.close(self)
        }
        self.tell(end)
    }
}
