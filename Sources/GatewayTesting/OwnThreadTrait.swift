import Synchronization
package import Testing

/// Runs each test on a thread of its own, so that it may block on sockets and processes.
package struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    fileprivate let slots: Slots
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await self.slots.take()
        defer { self.slots.give() }
        try await OwnThreadExecutor.run { try await function() }
    }
}

extension Trait where Self == OwnThreadTrait {
    /// The test may block; see `OwnThreadTrait`.
    package static var ownThread: Self { Self(slots: .many) }
    /// The same, for tests that keep a program of their own busy.
    package static var oneOfFewThreads: Self { Self(slots: .few) }
}

/// How many blocking tests run side by side: enough to hide their waiting, few enough to keep their timing honest.
private final class Slots: Sendable {
    static let few = Slots(6)
    static let many = Slots(24)
    private let state: Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

    init(_ count: Int) { self.state = Mutex((count, [])) }

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
