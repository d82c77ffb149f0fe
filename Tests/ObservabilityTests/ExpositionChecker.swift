/// Reads an exposition as strictly as the formats are written (Prometheus text 0.0.4, OpenMetrics 1.0).
struct ExpositionChecker {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    private(set) var samples: [Sample] = []
    private let isOpenMetrics: Bool
    private var types: [String: String] = [:]
    private var closed: Set<String> = []
    private var family = ""
    private var seen: Set<String> = []
    private var familySamples: [Sample] = []

    init(_ text: String, openMetrics: Bool) throws(Problem) {
        self.isOpenMetrics = openMetrics
        guard text.hasSuffix("\n") else { throw Problem(description: "no line end at the end") }
        guard !text.utf8.contains(13) else { throw Problem(description: "carriage return") }
        var lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if openMetrics {
            guard lines.popLast() == "# EOF" else { throw Problem(description: "no EOF") }
        }
        for line in lines {
            if line.hasPrefix("# ") { try self.meta(line) } else { try self.sample(line) }
        }
        try self.endFamily()
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        self.samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func meta(_ line: String) throws(Problem) {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4 else { throw Problem(description: "meta: \(line)") }
        switch parts[1] {
        case "HELP":
            try self.endFamily()
            guard !self.closed.contains(parts[2]) else { throw Problem(description: "interleaved: \(line)") }
            self.family = parts[2]
        case "TYPE":
            guard parts[2] == self.family, self.types[self.family] == nil else { throw Problem(description: line) }
            self.types[self.family] = parts[3]
            let isTotal = self.family.hasSuffix("_total")
            guard parts[3] != "counter" || isTotal != self.isOpenMetrics else { throw Problem(description: line) }
        case "UNIT":
            guard self.isOpenMetrics, parts[2] == self.family, self.family.hasSuffix("_" + parts[3]) else {
                throw Problem(description: line)
            }
        default: throw Problem(description: "comment: \(line)")
        }
    }

    private mutating func endFamily() throws(Problem) {
        guard !self.family.isEmpty else { return }
        guard !self.familySamples.isEmpty else { throw Problem(description: "empty family \(self.family)") }
        if self.types[self.family] == "histogram" { try self.checkHistograms() }
        self.closed.insert(self.family)
        self.samples += self.familySamples
        self.familySamples = []
        self.family = ""
    }

    private mutating func sample(_ line: String) throws(Problem) {
        var reader = SampleReader(line)
        let sample = try reader.read()
        guard let type = self.types[self.family],
            self.suffixes(type).contains(where: { self.family + $0 == sample.name })
        else { throw Problem(description: "outside its family: \(line)") }
        let identity = "\(sample.name) \(sample.labels.sorted { $0.key < $1.key })"
        guard self.seen.insert(identity).inserted else { throw Problem(description: "twice: \(line)") }
        guard type != "counter" || sample.value >= 0 else { throw Problem(description: "negative: \(line)") }
        guard type != "info" || sample.value == 1 else { throw Problem(description: "info: \(line)") }
        self.familySamples.append(sample)
    }

    private func suffixes(_ type: String) -> [String] {
        switch type {
        case "counter": [self.isOpenMetrics ? "_total" : ""]
        case "info": ["_info"]
        case "gauge": [""]
        case "histogram": ["_bucket", "_sum", "_count"]
        default: []
        }
    }

    private func checkHistograms() throws(Problem) {
        var series: [String: (buckets: [Sample], sum: Int, count: Double?)] = [:]
        for sample in self.familySamples {
            let others = sample.labels.filter { $0.key != "le" }.sorted { $0.key < $1.key }
            var one = series["\(others)"] ?? ([], 0, nil)
            if sample.name.hasSuffix("_bucket") { one.buckets.append(sample) }
            if sample.name.hasSuffix("_sum") { one.sum += 1 }
            if sample.name.hasSuffix("_count") { one.count = sample.value }
            series["\(others)"] = one
        }
        for (name, one) in series {
            let limits = one.buckets.map { $0.labels["le"] ?? "" }
            let numbers = limits.map { $0 == "+Inf" ? Double.infinity : Double($0) ?? .nan }
            guard one.sum == 1, numbers == numbers.sorted(), numbers.last == .infinity,
                one.buckets.map(\.value) == one.buckets.map(\.value).sorted(), one.buckets.last?.value == one.count,
                limits.dropLast().allSatisfy({ "\(Double($0) ?? .nan)" == $0 })
            else { throw Problem(description: "histogram \(self.family) \(name)") }
        }
    }
}

/// Reads `name{label="value",…} number`.
private struct SampleReader {
    private var rest: Substring
    private let line: String

    init(_ line: String) {
        self.line = line
        self.rest = line[...]
    }

    mutating func read() throws(ExpositionChecker.Problem) -> ExpositionChecker.Sample {
        let name = try self.name()
        var labels: [String: String] = [:]
        if self.take("{") {
            repeat {
                let label = try self.name()
                guard self.take("="), self.take("\""), labels[label] == nil else { throw self.problem }
                labels[label] = try self.value()
            } while self.take(",")
            guard self.take("}") else { throw self.problem }
        }
        guard self.take(" "), let number = Double(self.rest), !self.rest.contains(" ") else { throw self.problem }
        return ExpositionChecker.Sample(name: name, labels: labels, value: number)
    }

    private var problem: ExpositionChecker.Problem { .init(description: "sample: \(self.line)") }

    private mutating func take(_ character: Character) -> Bool {
        guard self.rest.first == character else { return false }
        self.rest.removeFirst()
        return true
    }

    private mutating func name() throws(ExpositionChecker.Problem) -> String {
        let name = self.rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        guard let first = name.first, !first.isNumber else { throw self.problem }
        self.rest = self.rest.dropFirst(name.count)
        return String(name)
    }

    private mutating func value() throws(ExpositionChecker.Problem) -> String {
        var value = ""
        while let next = self.rest.popFirst() {
            if next == "\"" { return value }
            guard next == "\\" else {
                value.append(next)
                continue
            }
            switch self.rest.popFirst() {
            case "n": value.append("\n")
            case "\"": value.append("\"")
            case "\\": value.append("\\")
            default: throw self.problem
            }
        }
        throw self.problem
    }
}
