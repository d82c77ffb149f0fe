package import GatewayTypes
import Synchronization

/// Stands for one label value; small, so that a series is found without looking at text.
package struct LabelID: Hashable, Sendable {
    let index: UInt16

    /// What does not belong to the configuration, or came when a table was full.
    package static let other = LabelID(index: 0)
    /// The label is left out of the series.
    package static let none = LabelID(index: 1)
}

/// The label values that series may carry: names from the configuration and closed sets.
///
/// Values are only ever added, so an identifier keeps its meaning over reloads. Looking up is for loading a snapshot;
/// a request uses the identifiers that its snapshot holds.
package final class LabelTable: Sendable {
    private struct State {
        var texts: [String] = ["other", ""]
        var indexes: [ByteString: LabelID] = ["other": .other, "": .none]
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: most values held; past it every new one is `other`. At most 65,000.
    package init(capacity: Int = 16_384) { self.capacity = min(max(capacity, 2), 65_000) }

    /// The identifier of a value, added when it is new. Never give it anything that a client wrote.
    package func intern(_ value: ByteString) -> LabelID {
        self.state.withLock { state in
            if let known = state.indexes[value] { return known }
            guard state.texts.count < self.capacity else { return .other }
            let label = LabelID(index: UInt16(truncatingIfNeeded: state.texts.count))
            state.texts.append(value.string)
            state.indexes[value] = label
            return label
        }
    }

    /// The identifier of a configured name, added when it is new.
    package func intern(_ name: some Identifier) -> LabelID { self.intern(name.bytes) }

    /// The identifier of a member of a closed set, added when it is new.
    package func intern(_ label: some MetricLabel) -> LabelID { self.intern(ByteString(label.metricLabel)) }

    /// The identifier of a value that is known already, else `other`.
    package func find(_ value: ByteString) -> LabelID { self.state.withLock { $0.indexes[value] ?? .other } }

    /// All values, by the index of their identifier.
    func texts() -> [String] { self.state.withLock { $0.texts } }
}

/// The identifiers of a closed set, made once: an enum whose values take one byte, which is all closed sets here.
///
/// Found by that byte, since hashing an enum with raw strings hashes the strings.
package struct ClosedLabels<Value: Sendable & MetricLabel>: Sendable {
    private let labels: [LabelID]

    package init(_ values: some Sequence<Value>, in table: LabelTable) {
        var labels = [LabelID](repeating: .other, count: 256)
        for value in values { labels[Self.byte(of: value)] = table.intern(value) }
        self.labels = labels
    }

    package subscript(value: Value) -> LabelID { self.labels[Self.byte(of: value)] }

    private static func byte(of value: Value) -> Int {
        // Ours alone to get wrong: a set of more than 256 values would be no set of labels.
        precondition(MemoryLayout<Value>.size == 1, "closed sets of labels are enums of one byte")
        return withUnsafeBytes(of: value) { Int($0[0]) }
    }
}
