/// Everything that is measured. The order is the order of the exposition.
enum MetricFamily: Int, CaseIterable, Sendable {
    case asks
    case tokens
    case admissions
    case answerCache
    case overhead
    case inFlightAsks
    case questions
    case questionBytes
    case hops
    case leases
    case reservationsLeaked
    case storeLatency
    case storeErrors
    case storeDegraded
    case settlementsWaiting
    case settlementsDropped
    case leasesLost
    case admittedWithoutStore
    case providerAttempts
    case providerState
    case tokenUsage
    case operationDuration
    case timeToFirstToken
    case authenticationFailures
    case keySetFetches
    case keySetAge
    case keySetKeys
    case standingOrders
    case httpRequests
    case httpDuration
    case connections
    case snapshotGeneration
    case configReloads
    case accessRecordsDropped
    case accessLogWriteErrors
    case buildInfo
    case processCPU
    case processResidentMemory
    case processOpenFiles
    case processFileLimit
    case processStartTime
}

/// What a family is and how it is written.
struct MetricDefinition: Sendable {
    enum Kind: Sendable {
        /// Added over the shards.
        case counter
        /// Each shard holds its part; the sum is shown.
        case sum
        /// Each shard says what it sees; the greatest is shown.
        case maximum
        /// Always 1; the labels are the value.
        case info
        /// With these upper bounds in the family's own unit, as written and as counted.
        case histogram(BucketBounds)
    }

    /// What one unit of a cell is.
    enum Scale: Sendable {
        case one
        /// Cells hold nanoseconds, seconds are shown.
        case nanoseconds
        /// Cells hold microseconds, seconds are shown.
        case microseconds

        var places: Int {
            switch self {
            case .one: 0
            case .nanoseconds: 9
            case .microseconds: 6
            }
        }
    }

    /// One label: its name, and whether its value is an entry of the label table or a number such as a status.
    enum Label: Sendable {
        case name(StaticString)
        case number(StaticString)

        var name: StaticString {
            switch self {
            case .name(let name), .number(let name): name
            }
        }
    }

    /// Without the `_total` of counters and the `_info` of infos.
    let name: StaticString
    let help: StaticString
    let kind: Kind
    var scale: Scale = .one
    /// The last part of the name, when that is a unit (OpenMetrics `# UNIT`).
    var unit: StaticString?
    /// At most four.
    var labels: [Label] = []

    /// Cells of one series: a histogram has one per bucket, one for what is above all, and the sum.
    var stride: Int {
        switch self.kind {
        case .histogram(let bounds): bounds.limits.count + 2
        default: 1
        }
    }
}

/// The upper bounds of a histogram's buckets.
struct BucketBounds: Sendable {
    /// In the unit of the cells, rising.
    let limits: [Int64]
    /// As `le` shows them: floats in canonical form, in both formats, so that a change of format changes no series.
    let labels: [StaticString]

    private init(_ bounds: [(Int64, StaticString)]) {
        self.limits = bounds.map(\.0)
        self.labels = bounds.map(\.1)
    }

    /// The bounds that OpenTelemetry gives for HTTP servers, in nanoseconds.
    static let http = BucketBounds([
        (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"),
        (75_000_000, "0.075"), (100_000_000, "0.1"), (250_000_000, "0.25"), (500_000_000, "0.5"),
        (750_000_000, "0.75"), (1_000_000_000, "1.0"), (2_500_000_000, "2.5"), (5_000_000_000, "5.0"),
        (7_500_000_000, "7.5"), (10_000_000_000, "10.0"),
    ])

    /// The bounds that OpenTelemetry gives for calls of models, in nanoseconds.
    static let operation = BucketBounds([
        (10_000_000, "0.01"), (20_000_000, "0.02"), (40_000_000, "0.04"), (80_000_000, "0.08"),
        (160_000_000, "0.16"), (320_000_000, "0.32"), (640_000_000, "0.64"), (1_280_000_000, "1.28"),
        (2_560_000_000, "2.56"), (5_120_000_000, "5.12"), (10_240_000_000, "10.24"), (20_480_000_000, "20.48"),
        (40_960_000_000, "40.96"), (81_920_000_000, "81.92"),
    ])

    /// For what the gateway and its store take, in nanoseconds.
    static let short = BucketBounds([
        (10_000, "1e-05"), (25_000, "2.5e-05"), (50_000, "5e-05"), (100_000, "0.0001"), (250_000, "0.00025"),
        (500_000, "0.0005"), (1_000_000, "0.001"), (2_500_000, "0.0025"), (5_000_000, "0.005"), (10_000_000, "0.01"),
        (25_000_000, "0.025"), (50_000_000, "0.05"), (100_000_000, "0.1"), (250_000_000, "0.25"),
        (1_000_000_000, "1.0"),
    ])

    /// The bounds that OpenTelemetry gives for tokens.
    static let tokens = BucketBounds([
        (1, "1.0"), (4, "4.0"), (16, "16.0"), (64, "64.0"), (256, "256.0"), (1024, "1024.0"), (4096, "4096.0"),
        (16_384, "16384.0"), (65_536, "65536.0"), (262_144, "262144.0"), (1_048_576, "1048576.0"),
        (4_194_304, "4194304.0"), (16_777_216, "16777216.0"), (67_108_864, "67108864.0"),
    ])
}
