import Synchronization

/// How many calls may be open to one upstream, over all its addresses, keys and loops.
package final class CallCap: Sendable {
    private let most: Int
    private let open = Atomic(0)

    package init(_ most: Int) { self.most = most }

    /// Counts a call that begins; false when as many are open as may be.
    func enter() -> Bool {
        guard self.open.wrappingAdd(1, ordering: .relaxed).oldValue >= self.most else { return true }
        self.leave()
        return false
    }

    func leave() { self.open.wrappingSubtract(1, ordering: .relaxed) }
}
