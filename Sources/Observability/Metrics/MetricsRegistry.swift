package import GatewayTypes

/// Everything this process counts: one shard per event loop and one for the other threads.
///
/// The registry lives as long as the process. A reload interns new names and keeps the old, so series go on and no
/// count is lost.
package final class MetricsRegistry: Sendable {
    package let labels: LabelTable
    /// One per event loop.
    package let shards: [MetricsShard]
    /// For threads that are no event loop: writers, signals, the start.
    package let background: MetricsShard
    private let startTime: WallTime

    /// - Parameters:
    ///   - loops: how many event loops will record.
    ///   - version: the program's own version, for `askgate_build_info`.
    ///   - startTime: when the process began.
    ///   - seriesLimit: most series of one family, over all shards; further ones are counted as `other`.
    package init(loops: Int, version: StaticString, startTime: WallTime, seriesLimit: Int = 2000) {
        let labels = LabelTable()
        let known = KnownLabels(in: labels)
        let ledger = SeriesLedger(capacity: seriesLimit)
        self.labels = labels
        self.shards = (0..<max(loops, 1)).map { _ in MetricsShard(known: known, ledger: ledger) }
        self.background = MetricsShard(known: known, ledger: ledger)
        self.startTime = startTime
        let build = SeriesKey(labels.intern(ByteString("\(version)")))
        self.background.record { state in
            state.set(.buildInfo, build, to: 1)
            for family in MetricFamily.unlabelled { state.set(family, to: 0) }
        }
    }

    /// Hides the state of providers that the configuration in force does not have.
    package func providersConfigured(_ providers: Set<LabelID>) {
        for shard in self.shards + [self.background] {
            shard.record { $0.hide(.providerState) { !providers.contains($0.label(0)) } }
        }
    }

    /// All metrics as a scraper reads them.
    package func exposition(_ format: ExpositionFormat) -> [UInt8] {
        self.sampleProcess()
        var merged = MetricDefinition.all.map { MergedFamily($0) }
        for shard in self.shards + [self.background] {
            for (number, cells) in shard.snapshot().enumerated() { merged[number].merge(cells) }
        }
        var writer = ExpositionWriter(format: format, texts: self.labels.texts())
        for family in merged { writer.write(family) }
        return writer.finish()
    }

    private func sampleProcess() {
        let sample = ProcessSample.read()
        self.background.record { state in
            state.set(.processStartTime, to: self.startTime.microseconds)
            guard let sample else { return }
            state.set(.processCPU, to: sample.cpuMicroseconds)
            state.set(.processResidentMemory, to: sample.residentBytes)
            state.set(.processOpenFiles, to: sample.openFiles)
            state.set(.processFileLimit, to: sample.fileLimit)
        }
    }
}

extension MetricFamily {
    /// Shown from the start, as zero: an alert cannot see a rise from nothing.
    fileprivate static var unlabelled: [MetricFamily] {
        self.allCases.filter { MetricDefinition.all[$0.rawValue].labels.isEmpty && !$0.isOfProcess }
    }

    private var isOfProcess: Bool { self.rawValue >= MetricFamily.processCPU.rawValue }
}

/// One family summed over the shards.
struct MergedFamily {
    let definition: MetricDefinition
    private(set) var series: [SeriesKey: [Int64]] = [:]

    init(_ definition: MetricDefinition) { self.definition = definition }

    mutating func merge(_ cells: FamilyCells) {
        for (key, place) in cells.index.entries {
            let first = place * cells.stride
            let values = Array(cells.values[first..<(first + cells.stride)])
            guard values[0] != FamilyCells.absent else { continue }
            if let known = self.series[key] {
                self.series[key] = zip(known, values).map(self.combine)
            } else {
                self.series[key] = values
            }
        }
    }

    private func combine(_ left: Int64, _ right: Int64) -> Int64 {
        switch self.definition.kind {
        case .maximum, .info: max(left, right)
        case .counter, .sum, .histogram: left &+ right
        }
    }
}
