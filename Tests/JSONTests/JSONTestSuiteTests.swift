import Foundation
import JSON
import Testing

/// Where the vectors of others lie; nil when they are absent, which only CI takes for a failure.
let vectors: URL? = {
    let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let named = ProcessInfo.processInfo.environment["ASKGATE_VECTORS"].map { URL(fileURLWithPath: $0) }
    let folder = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/vectors")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
}()

let vectorsAreExpected = vectors != nil || ProcessInfo.processInfo.environment["CI"] == "true"

@Suite("JSONTestSuite", .enabled(if: vectorsAreExpected, "no vectors here; set ASKGATE_VECTORS"))
struct JSONTestSuiteTests {
    /// Accepted by the suite, refused by us: names given twice, and a NUL inside a name.
    private static let refusedByUs: Set<String> = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json", "y_object_escaped_null_in_key.json",
    ]

    @Test("Everything that must be read is read, and everything that must not is not")
    func verdicts() throws {
        let folder = try #require(vectors).appendingPathComponent("json/test_parsing")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files.count > 300)
        for file in files where file.hasSuffix(".json") {
            let bytes = Array(try Data(contentsOf: folder.appendingPathComponent(file)))
            let reason = refusal(bytes)
            if file.hasPrefix("y_") {
                let expectsRefusal = Self.refusedByUs.contains(file)
                #expect((reason != nil) == expectsRefusal, "\(file): \(String(describing: reason))")
            } else if file.hasPrefix("n_") {
                #expect(reason != nil, "\(file)")
            }
        }
    }
}
