import GatewayTypes
import Quota

/// Where other instances are reached, remembered for a moment so that a client that comes back again and again asks
/// the store once. On its loop.
final class InstanceDirectory {
    private struct Entry {
        let address: ByteString?
        let until: MonotonicTime
    }

    private static let lifetime = TimeSpan.seconds(3)
    private static let most = 256

    private let book: any InstanceBook
    private var entries: [UInt32: Entry] = [:]

    init(_ book: any InstanceBook) { self.book = book }

    /// Held now; never above the bound.
    var count: Int { self.entries.count }

    /// As `InstanceBook.address(of:)`: empty for one without an internal listener, nil for one that is gone.
    func address(of instance: UInt32, at now: MonotonicTime) async throws(QuotaFailure) -> ByteString? {
        if let entry = self.entries[instance], entry.until > now { return entry.address }
        let address = try await self.book.address(of: instance)
        if self.entries.count >= Self.most { self.entries = self.entries.filter { $0.value.until > now } }
        // Names that nobody bears must not crowd out what is asked for next.
        if self.entries.count >= Self.most { self.entries = [:] }
        self.entries[instance] = Entry(address: address, until: now + Self.lifetime)
        return address
    }

    /// What was known of an instance has turned out wrong.
    func forget(_ instance: UInt32) { self.entries[instance] = nil }
}
