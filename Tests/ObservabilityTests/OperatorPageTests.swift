import Foundation
import Testing

@testable import Observability

/// The page that operators read beside the metrics.
struct OperatorPageTests {
    private static func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/operating.md"), encoding: .utf8)
    }

    /// Each name in backticks, with labels or without.
    @Test("names every metric", arguments: MetricFamily.allCases)
    func metrics(family: MetricFamily) throws {
        let definition = MetricDefinition.all[family.rawValue]
        let base = "\(definition.name)"
        let name =
            switch definition.kind {
            case .counter: base + "_total"
            case .info: base + "_info"
            default: base
            }
        let page = try Self.page()
        #expect(page.contains("`\(name)`") || page.contains("`\(name){"), "\(name) is not in docs/operating.md")
    }
}
