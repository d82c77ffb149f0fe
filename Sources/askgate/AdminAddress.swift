import Configuration
import GatewayTypes

/// Where the admin listener is and who calls, as the options of a command say it.
struct AdminAddress {
    private let given: String?
    private let file: String?
    private let tokenFile: String?
    private let roots: String?

    /// Takes the options; looks at nothing yet.
    init(_ options: inout Options) throws(UsageFailure) {
        self.given = try options.value("--admin")
        self.file = try options.value("--config")
        self.tokenFile = try options.value("--token-file")
        self.roots = try options.value("--ca")
    }

    /// `--admin`, else what the file of `--config` says, else `ASKGATE_ADMIN_URL`, else the standard address.
    func client(environment: [String: String]) throws(UsageFailure) -> AdminClient {
        let url =
            if self.given == nil, let file = self.file {
                try Self.configured(file, environment)
            } else {
                try Self.url(given: self.given, environment)
            }
        let token = try Self.token(self.tokenFile, environment)
        return AdminClient(url: url, token: token, certificateFile: self.roots)
    }

    /// What is given, else `ASKGATE_ADMIN_URL`, else the standard address.
    static func url(given: String?, _ environment: [String: String]) throws(UsageFailure) -> String {
        if let given { return try self.normalized(given, "--admin") }
        return try self.normalized(environment["ASKGATE_ADMIN_URL"] ?? "http://127.0.0.1:9090", "ASKGATE_ADMIN_URL")
    }

    /// With a scheme and without a slash at the end.
    private static func normalized(_ written: String, _ name: String) throws(UsageFailure) -> String {
        var url = Substring(written)
        while url.hasSuffix("/") { url = url.dropLast() }
        if !url.contains("://") { url = "http://" + url }
        let isPlain = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 && $0 != 0x40 }
        guard isPlain, url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw UsageFailure("\(name) needs an address such as http://127.0.0.1:9090")
        }
        return String(url)
    }

    private static func configured(_ path: String, _ environment: [String: String]) throws(UsageFailure) -> String {
        let loaded: LoadedConfiguration
        do {
            loaded = try ConfigurationLoader.load(path: path, environment: environment)
        } catch {
            throw UsageFailure("the configuration does not load; name the listener with --admin\n\(error)")
        }
        guard var listener = loaded.document.listeners.admin, listener.port != 0 else {
            throw UsageFailure("the configuration has no admin listener of a known port; name it with --admin")
        }
        if listener.address == "0.0.0.0" { listener.address = "127.0.0.1" }
        if listener.address == "::" { listener.address = "::1" }
        return "http://\(listener)"
    }

    private static func token(
        _ file: String?, _ environment: [String: String]
    ) throws(UsageFailure) -> Secret {
        if let file {
            let token = SecretFile(file)
            let bytes = try token.bytes("the operator's token")
            token.warnIfOpen("the operator's token")
            return Secret(bytes)
        }
        guard let token = environment["ASKGATE_OPERATOR_TOKEN"], !token.isEmpty else {
            throw UsageFailure("an operator's token is needed: set ASKGATE_OPERATOR_TOKEN or name a --token-file")
        }
        return Secret(token)
    }
}
