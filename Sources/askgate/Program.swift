import Glibc

/// `askgate`: one binary for the gateway and for those who run it.
@main
enum Program {
    static let version: StaticString = "0.1.0"

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "serve" { LargePages.prefer() }
        let status = await Self.run(arguments)
        exit(status)
    }

    @concurrent
    private static func run(_ arguments: [String]) async -> Int32 {
        guard let name = arguments.first else {
            Terminal.show(Help.overview)
            return 2
        }
        var options = Options(arguments.dropFirst(), of: name)
        do throws(UsageFailure) {
            switch name {
            case "serve": return try await ServeCommand.run(&options)
            case "check": return try CheckCommand.run(&options)
            case "token": return try TokenCommand.run(&options)
            case "health": return try await HealthCommand.run(&options)
            case "quota": return await QuotaCommand.run(&options)
            case "revoke": return await RevokeCommand.run(&options)
            case "operator-token": return try OperatorTokenCommand.run(&options)
            case "--version", "-V", "version":
                Terminal.show("askgate \(Self.version)")
                return 0
            case "--help", "-h", "help":
                Terminal.show(Help.text(for: options.next()))
                return 0
            default:
                throw UsageFailure("there is no command \"\(name)\"")
            }
        } catch {
            if error.isHelp {
                Terminal.show(Help.text(for: name))
                return 0
            }
            Terminal.complain("askgate: \(error.message)\nTry `askgate --help`.")
            return 2
        }
    }
}
