/// How metrics are written for a scraper.
package enum ExpositionFormat: Sendable, CaseIterable {
    /// Prometheus text 0.0.4.
    case text
    /// OpenMetrics 1.0.
    case openMetrics

    package var contentType: StaticString {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// What an `Accept` field asks for: OpenMetrics when it names a version 1 of it that it does not like less than
    /// plain text, else the text that every scraper reads.
    package init(accept: String) {
        var openMetrics = 0
        var text = 0
        for range in accept.utf8.prefix(1024).split(separator: UInt8(ascii: ",")).prefix(16) {
            let parts = range.split(separator: UInt8(ascii: ";")).map { trimmed($0) }
            guard let type = parts.first else { continue }
            switch type {
            case "application/openmetrics-text" where acceptsVersionOne(parts):
                openMetrics = max(openMetrics, quality(parts))
            case "text/plain", "text/*": text = max(text, quality(parts))
            default: continue
            }
        }
        self = openMetrics > 0 && openMetrics >= text ? .openMetrics : .text
    }
}

private func trimmed(_ bytes: Substring.UTF8View) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
    let text = bytes.drop(while: isSpace)
    let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? text.startIndex
    return String(decoding: text[..<end], as: UTF8.self).lowercased()
}

private func acceptsVersionOne(_ parts: [String]) -> Bool {
    let versions = parts.filter { $0.hasPrefix("version=") }.map { $0.dropFirst(8) }
    return versions.allSatisfy { $0 == "1.0.0" || $0 == "\"1.0.0\"" }
}

/// The weight in thousandths; what cannot be read counts as none.
private func quality(_ parts: [String]) -> Int {
    guard let text = parts.first(where: { $0.hasPrefix("q=") })?.dropFirst(2) else { return 1000 }
    guard let value = Double(text), value >= 0, value <= 1 else { return 0 }
    return Int(value * 1000)
}
