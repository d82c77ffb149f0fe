import Configuration
import EventLoops
import Gateway
import GatewayTypes
import Observability

/// `askgate check`: looks a configuration file through as `serve` would.
enum CheckCommand {
    static func run(_ options: inout Options) throws(UsageFailure) -> Int32 {
        let showsEffective = options.flag("--effective")
        guard let path = options.next() else {
            try options.finish()
            throw UsageFailure("check needs a file")
        }
        try options.finish()
        do throws(ConfigurationFailure) {
            let loaded = try ConfigurationLoader.load(path: path, environment: Environment.current)
            let builder = SnapshotBuilder(file: path, labels: LabelTable(), now: SystemClock().wallTime())
            _ = try builder.snapshot(of: loaded.document, generation: 1)
            if case .redis(let settings) = loaded.document.store { _ = try StoreBuilder(file: path).redis(settings) }
            for warning in loaded.warnings { Terminal.complain(warning.description) }
            if showsEffective { Terminal.show(loaded.document.effectiveText) }
            let tenants = loaded.document.tenants.count
            Terminal.complain("\(path): good; \(tenants) tenant\(tenants == 1 ? "" : "s")")
            return 0
        } catch {
            Terminal.complain(error.description)
            return 1
        }
    }
}
