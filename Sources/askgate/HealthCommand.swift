import GatewayTypes

/// `askgate health`: asks a running gateway, for container health checks.
enum HealthCommand {
    static func run(_ options: inout Options) async throws(UsageFailure) -> Int32 {
        let given = try options.value("--admin")
        let roots = try options.value("--ca")
        let path = options.flag("--ready") ? "/readyz" : "/livez"
        try options.finish()
        let url = try AdminAddress.url(given: given, Environment.current)
        let client = AdminClient(url: url, token: nil, certificateFile: roots, deadline: .seconds(2))
        do throws(UnreachableFailure) {
            let status = try await client.call("GET", path).status
            Terminal.show("\(path) \(status)")
            return status == 200 ? 0 : 1
        } catch {
            Terminal.complain("askgate: nobody answers at \(url) (\(error.reason))")
            return 1
        }
    }
}
