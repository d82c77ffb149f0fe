import Synchronization

/// What one event loop has counted. One per loop, and one more for all other threads.
///
/// Any thread may record here; that only its own loop does is what keeps the lock uncontended (about 15 ns) and the
/// memory in that core's cache. A scrape holds the lock as long as copying the cells takes, some ten microseconds.
package final class MetricsShard: Sendable {
    let known: KnownLabels
    private let state: Mutex<ShardState>

    init(known: KnownLabels, ledger: SeriesLedger) {
        self.known = known
        self.state = Mutex(ShardState(ledger: ledger))
    }

    /// A copy whose counts belong together, by the raw value of the family.
    ///
    /// Copied, not shared: a shared array would make the loop copy it, one family after the other, when it next counts.
    func snapshot() -> [FamilyCells] { self.state.withLock { $0.families.map { $0.copied() } } }

    /// Makes changes that a scrape sees all or not at all.
    func record(_ body: (inout ShardState) -> Void) { self.state.withLock { body(&$0) } }
}

/// One family's series in one shard, cell after cell.
struct FamilyCells: Sendable {
    /// A cell of a gauge that is not to be shown.
    static let absent = Int64.min

    var index = SeriesIndex()
    var values: [Int64] = []
    /// Cells of one series.
    let stride: Int
    /// Upper bounds of the buckets; empty when this is no histogram. The cell after the last bucket holds the sum.
    let limits: [Int64]

    init(_ definition: MetricDefinition) {
        self.stride = definition.stride
        if case .histogram(let bounds) = definition.kind { self.limits = bounds.limits } else { self.limits = [] }
    }

    mutating func observe(_ value: Int64, at first: Int) {
        var bucket = 0
        while bucket < self.limits.count, self.limits[bucket] < value { bucket += 1 }
        self.values[first + bucket] &+= 1
        self.values[first + self.limits.count + 1] &+= value
    }

    /// The same cells in memory of their own.
    func copied() -> FamilyCells {
        var copy = self
        copy.values = self.values.withUnsafeBufferPointer { Array($0) }
        copy.index = self.index.copied()
        return copy
    }

    /// Begins a series with empty cells.
    mutating func begin(_ key: SeriesKey) -> Int {
        for _ in 0..<self.stride { self.values.append(0) }
        return self.index.insert(key) * self.stride
    }
}

/// The cells of a shard and the changes that can be made to them. Guarded by the shard's lock.
struct ShardState {
    fileprivate(set) var families: [FamilyCells]
    private let ledger: SeriesLedger

    init(ledger: SeriesLedger) {
        self.families = MetricDefinition.all.map(FamilyCells.init)
        self.ledger = ledger
    }

    mutating func add(_ amount: Int64, to family: MetricFamily, _ key: SeriesKey = .zero) {
        let cell = self.cell(family, key)
        self.families[family.rawValue].values[cell] &+= amount
    }

    mutating func set(_ family: MetricFamily, _ key: SeriesKey = .zero, to value: Int64) {
        let cell = self.cell(family, key)
        self.families[family.rawValue].values[cell] = value
    }

    /// Counts a value in its bucket and adds it to the sum. A negative value counts as nothing.
    mutating func observe(_ value: Int64, in family: MetricFamily, _ key: SeriesKey = .zero) {
        let cell = self.cell(family, key)
        self.families[family.rawValue].observe(max(value, 0), at: cell)
    }

    /// Hides every series of a gauge that is not wanted any more.
    mutating func hide(_ family: MetricFamily, where isUnwanted: (SeriesKey) -> Bool) {
        for entry in self.families[family.rawValue].index.entries where isUnwanted(entry.key) {
            self.families[family.rawValue].values[entry.place] = FamilyCells.absent
        }
    }

    /// The first cell of a series. A family that is full counts new ones as `other`.
    private mutating func cell(_ family: MetricFamily, _ key: SeriesKey) -> Int {
        let number = family.rawValue
        if let place = self.families[number].index.place(of: key) { return place * self.families[number].stride }
        guard !self.ledger.admits(key, to: family) else { return self.families[number].begin(key) }
        if let place = self.families[number].index.place(of: .zero) { return place * self.families[number].stride }
        return self.families[number].begin(.zero)
    }
}

/// Holds each family to its number of series, over all shards.
final class SeriesLedger: Sendable {
    private let known: Mutex<[Set<SeriesKey>]>
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
        self.known = Mutex([Set<SeriesKey>](repeating: [], count: MetricFamily.allCases.count))
    }

    /// Whether the series exists or may begin. Asked once for each series and shard.
    func admits(_ key: SeriesKey, to family: MetricFamily) -> Bool {
        self.known.withLock { known in
            if known[family.rawValue].contains(key) { return true }
            guard known[family.rawValue].count < self.capacity else { return false }
            known[family.rawValue].insert(key)
            return true
        }
    }
}
