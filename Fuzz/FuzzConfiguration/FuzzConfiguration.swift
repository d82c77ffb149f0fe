import Configuration
import FuzzDriver
import GatewayTypes
import Routing

/// Feeds arbitrary bytes to the configuration loader: whatever they are, it gives a document or problems, in bounded
/// time, and what it gives can be printed.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzConfiguration(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    do throws(ConfigurationFailure) {
        let loaded = try ConfigurationLoader.load(text: text, name: "fuzz.yaml", sources: sources, limits: limits)
        precondition(!loaded.document.effectiveText.isEmpty)
        precondition(loaded.document.restartOnlyChanges(to: loaded.document).isEmpty)
        var pool = PromptPool()
        for tenant in loaded.document.tenants { _ = tenant.routingTable(pool: &pool) { $0.count } }
    } catch {
        precondition(error.problems.contains { $0.severity == .error })
        precondition(error.problems.allSatisfy { !$0.description.contains("canary") })
    }
    return 0
}

/// Small bounds, so that the fuzzer also crosses them.
private let limits: YAMLLimits = {
    var limits = YAMLLimits()
    limits.nodes = 5000
    limits.aliases = 20
    return limits
}()

/// Every name gives something, and no disk is touched.
private let sources = ConfigurationSources(
    environment: ["MAIN_KEY": "canary-key", "SPARE_KEY": "canary-key", "GUEST_SECRET": "Y2FuYXJ5"]
) { path, _ in
    if path.hasSuffix(".json") { return .success(.init(bytes: Array(#"{"keys":[]}"#.utf8))) }
    if path.hasSuffix(".pem") { return .success(.init(bytes: Array("-----BEGIN PUBLIC KEY-----\n".utf8))) }
    return .success(.init(bytes: Array("canary-secret-of-more-than-sixty-four-bytes-for-any-algorithm-here".utf8)))
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzConfiguration_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzConfiguration)
}
