import Configuration
import EventLoops
import GatewayTypes
import Observability

/// `askgate serve`: runs the gateway until it is told to stop.
enum ServeCommand {
    static func run(_ options: inout Options) async throws(UsageFailure) -> Int32 {
        let path = try options.value("--config")
        let isDevelopment = options.flag("--development")
        let state = try options.value("--state") ?? ".askgate"
        try options.finish()
        let source: ConfigurationSource
        switch (path, isDevelopment) {
        case (let path?, false): source = .file(path)
        case (nil, true): source = .development(Development(state: state))
        default: throw UsageFailure("serve needs either --config FILE or --development")
        }
        let loaded: LoadedConfiguration
        do {
            loaded = try source.load()
        } catch {
            Terminal.complain(error.text)
            return 1
        }
        do {
            let process = try GatewayProcess(source: source, loaded: loaded)
            if case .development(let development) = source { try Self.greet(development, process) }
            await process.run()
            return 0
        } catch {
            Terminal.complain("askgate: \(error.text)")
            return 1
        }
    }

    /// Shows lines that can be pasted.
    private static func greet(_ development: Development, _ process: GatewayProcess) throws(StartFailure) {
        let token: String
        do {
            token = try development.token(
                claims: [("sub", "demo-user"), ("client_id", "askgate-cli"), ("plan", "pro")],
                lifetime: .seconds(30 * 86_400), now: SystemClock().wallTime())
        } catch {
            throw StartFailure(error.message)
        }
        Terminal.show(Greeting.text(api: process.apiAddress, admin: process.adminAddress, token: token))
    }
}

/// Why the gateway did not start, in words for the operator.
struct StartFailure: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// Where the configuration comes from, at the start and at each reload.
enum ConfigurationSource: Sendable {
    case file(String)
    case development(Development)

    /// How the file is named in problems.
    var name: String {
        switch self {
        case .file(let path): path
        case .development: "development.yaml"
        }
    }

    func load() throws(StartFailure) -> LoadedConfiguration {
        switch self {
        case .file(let path):
            do {
                return try ConfigurationLoader.load(path: path, environment: Environment.current)
            } catch {
                throw StartFailure(error.description)
            }
        case .development(let development):
            do {
                return try development.load()
            } catch {
                throw StartFailure(error.message)
            }
        }
    }
}
