import GatewayTypes
import Quota

/// Ends of asks with a key that the store has not heard of, since it did not answer; bounded. On its loop.
///
/// Without them a key whose ask came to nothing in a moment of the store's silence would stay taken for its lifetime.
final class KeyEnds {
    struct End {
        let name: KeyName
        let record: KeyRecord
        /// How long the key stays taken; nil where its ask cost nothing and may be made anew.
        let lifetime: TimeSpan?
    }

    private static let most = 4096
    /// Told in one go, so that the leases that are renewed in between do not wait.
    private static let batch = 128
    private var waiting: [End] = []
    private var isTelling = false

    /// One more to tell; dropped when there are too many.
    func add(_ end: End) { if self.waiting.count < Self.most { self.waiting.append(end) } }

    /// Tells the store as many as it takes in.
    func tell(_ book: any KeyBook) async {
        guard !self.isTelling, !self.waiting.isEmpty else { return }
        self.isTelling = true
        defer { self.isTelling = false }
        var told = 0
        while told < min(self.waiting.count, Self.batch), await Self.tell(self.waiting[told], book) { told += 1 }
        self.waiting.removeFirst(told)
    }

    /// False when the store does not answer.
    static func tell(_ end: End, _ book: any KeyBook) async -> Bool {
        do throws(QuotaFailure) {
            if let lifetime = end.lifetime {
                try await book.finish(end.name, end.record, lifetime: lifetime)
            } else {
                try await book.release(end.name, end.record)
            }
            return true
        } catch {
            return false
        }
    }
}
