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
        let port = try self.port(&options, isDevelopment: isDevelopment)
        try options.finish()
        let source: ConfigurationSource
        switch (path, isDevelopment) {
        case (let path?, false): source = .file(path)
        case (nil, true):
            source = .development(Development(state: state, port: port, environment: Environment.current))
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

    private static func port(_ options: inout Options, isDevelopment: Bool) throws(UsageFailure) -> UInt16? {
        guard let text = try options.value("--port") else { return nil }
        guard isDevelopment else { throw UsageFailure("--port is for --development; a configuration names its own") }
        guard let port = UInt16(text), (1..<UInt16.max).contains(port) else {
            throw UsageFailure("--port needs a number from 1 to 65534")
        }
        return port
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
        Terminal.show(
            Greeting.text(
                api: process.apiAddress, admin: process.adminAddress, token: token,
                operatorTokenPath: development.operatorTokenPath))
    }
}

/// Where the configuration comes from, at the start and at each reload.
enum ConfigurationSource: Sendable {
    case file(String)
    case development(Development)

    var isDevelopment: Bool {
        if case .development = self { true } else { false }
    }

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
