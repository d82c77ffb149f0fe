/// A page of Prometheus text, for looking up single values.
package struct MetricsPage: Sendable {
    package struct Sample: Sendable {
        package var name: String
        package var labels: [String: String]
        package var value: Double
    }

    package let text: String
    package let samples: [Sample]

    package init(_ text: String) {
        self.text = text
        self.samples = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { Self.sample($0) }
    }

    /// The sum over every sample of the name that carries these labels; 0 where there is none.
    package func value(_ name: String, _ labels: [String: String] = [:]) -> Double {
        self.samples.lazy
            .filter { sample in sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value } }
            .reduce(0) { $0 + $1.value }
    }

    /// How many series the page has.
    package var count: Int { self.samples.count }

    private static func sample(_ line: Substring) -> Sample? {
        guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
            return nil
        }
        let series = line[..<space]
        guard let open = series.firstIndex(of: "{") else {
            return Sample(name: String(series), labels: [:], value: value)
        }
        var labels: [String: String] = [:]
        for part in series[series.index(after: open)...].dropLast().split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { labels[String(pair[0])] = String(pair[1].dropFirst().dropLast()) }
        }
        return Sample(name: String(series[..<open]), labels: labels, value: value)
    }
}
