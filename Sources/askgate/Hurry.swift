import Synchronization

/// Whether a second stop signal has come.
final class Hurry: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { self.flag.load(ordering: .acquiring) }
    func set() { self.flag.store(true, ordering: .releasing) }
}
