import GatewayTesting
import Synchronization
import Testing

/// Runs each test on a thread of its own, so that it may block on sockets, and only a few at the same time.
struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Slots.shared.take()
        defer { Slots.shared.give() }
        let thread = OwnThreadExecutor()
        defer { thread.stop() }
        try await withTaskExecutorPreference(thread) { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// The test may block; see `OwnThreadTrait`.
    static var ownThread: Self { Self() }
}

/// How many blocking tests run side by side: enough to hide their waiting, few enough to keep their timing honest.
private final class Slots: Sendable {
    static let shared = Slots()
    private let state = Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>((6, []))

    func take() async {
        await withCheckedContinuation { continuation in
            let now = self.state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if now { continuation.resume() }
        }
    }

    func give() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
