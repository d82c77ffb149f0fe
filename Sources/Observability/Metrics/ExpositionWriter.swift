/// Writes families in Prometheus text 0.0.4 or OpenMetrics 1.0.
struct ExpositionWriter {
    private let format: ExpositionFormat
    private let texts: [String]
    private var output: [UInt8] = []

    /// - Parameter texts: label values by the index of their identifier.
    init(format: ExpositionFormat, texts: [String]) {
        self.format = format
        self.texts = texts
        self.output.reserveCapacity(32_768)
    }

    /// Writes the family's head and its series, in the order of their labels. A family without series is left out.
    mutating func write(_ family: MergedFamily) {
        guard !family.series.isEmpty else { return }
        let definition = family.definition
        self.head(definition)
        let series = family.series
            .map { (labels: self.labels(of: $0.key, definition), cells: $0.value) }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
        for one in series { self.samples(definition, one.labels, one.cells) }
    }

    consuming func finish() -> [UInt8] {
        if self.format == .openMetrics { self.output.append(literal: "# EOF\n") }
        return self.output
    }

    private mutating func head(_ definition: MetricDefinition) {
        // OpenMetrics names a family without the suffix of its samples, the older text with it.
        let suffix: StaticString = self.format == .openMetrics ? "" : definition.suffix
        self.meta("HELP", definition, suffix)
        self.output.append(escaped: "\(definition.help)", quotes: self.format == .openMetrics)
        self.output.append(literal: "\n")
        self.meta("TYPE", definition, suffix)
        self.output.append(literal: definition.typeName(self.format))
        self.output.append(literal: "\n")
        guard self.format == .openMetrics, let unit = definition.unit else { return }
        self.meta("UNIT", definition, suffix)
        self.output.append(literal: unit)
        self.output.append(literal: "\n")
    }

    private mutating func meta(_ keyword: StaticString, _ definition: MetricDefinition, _ suffix: StaticString) {
        self.output.append(literal: "# ")
        self.output.append(literal: keyword)
        self.output.append(literal: " ")
        self.output.append(literal: definition.name)
        self.output.append(literal: suffix)
        self.output.append(literal: " ")
    }

    private mutating func samples(_ definition: MetricDefinition, _ labels: [UInt8], _ cells: [Int64]) {
        guard case .histogram(let bounds) = definition.kind else {
            return self.sample(definition, definition.suffix, labels, cells[0], definition.scale.places)
        }
        var total: Int64 = 0
        for (position, limit) in bounds.labels.enumerated() {
            total &+= cells[position]
            self.bucket(definition, labels, limit, total)
        }
        total &+= cells[bounds.labels.count]
        self.bucket(definition, labels, "+Inf", total)
        self.sample(definition, "_sum", labels, cells[bounds.labels.count + 1], definition.scale.places)
        self.sample(definition, "_count", labels, total, 0)
    }

    private mutating func sample(
        _ definition: MetricDefinition, _ suffix: StaticString, _ labels: [UInt8], _ value: Int64, _ places: Int
    ) {
        self.output.append(literal: definition.name)
        self.output.append(literal: suffix)
        if !labels.isEmpty {
            self.output.append(literal: "{")
            self.output.append(contentsOf: labels)
            self.output.append(literal: "}")
        }
        self.output.append(literal: " ")
        self.output.append(fixed: value, places: places)
        self.output.append(literal: "\n")
    }

    private mutating func bucket(
        _ definition: MetricDefinition, _ labels: [UInt8], _ limit: StaticString, _ value: Int64
    ) {
        var labels = labels
        labels.append(literal: labels.isEmpty ? "le=\"" : ",le=\"")
        labels.append(literal: limit)
        labels.append(literal: "\"")
        self.sample(definition, "_bucket", labels, value, 0)
    }

    /// The inside of the braces.
    private func labels(of key: SeriesKey, _ definition: MetricDefinition) -> [UInt8] {
        var bytes: [UInt8] = []
        for (position, label) in definition.labels.enumerated() {
            let value = key.label(position)
            guard value != .none else { continue }
            if !bytes.isEmpty { bytes.append(literal: ",") }
            bytes.append(literal: label.name)
            bytes.append(literal: "=\"")
            bytes.append(escaped: self.text(of: value, label), quotes: true)
            bytes.append(literal: "\"")
        }
        return bytes
    }

    private func text(of value: LabelID, _ label: MetricDefinition.Label) -> String {
        if case .number = label, value != .other { return String(value.index) }
        let index = Int(value.index)
        return index < self.texts.count ? self.texts[index] : "other"
    }
}

extension MetricDefinition {
    fileprivate var suffix: StaticString {
        switch self.kind {
        case .counter: "_total"
        case .info: "_info"
        case .sum, .maximum, .histogram: ""
        }
    }

    fileprivate func typeName(_ format: ExpositionFormat) -> StaticString {
        switch self.kind {
        case .counter: "counter"
        case .sum, .maximum: "gauge"
        case .info: format == .openMetrics ? "info" : "gauge"
        case .histogram: "histogram"
        }
    }
}

extension [UInt8] {
    /// Appends help or a label value with backslashes, line feeds and, where the format asks, quotes escaped.
    fileprivate mutating func append(escaped text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): self.append(literal: #"\\"#)
            case UInt8(ascii: "\n"): self.append(literal: #"\n"#)
            case UInt8(ascii: "\"") where quotes: self.append(literal: #"\""#)
            default: self.append(byte)
            }
        }
    }
}
