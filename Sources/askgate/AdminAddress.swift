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
        let url: String
        if let given = self.given {
            url = try Self.normalized(given)
        } else if let file = self.file {
            url = try Self.configured(file, environment)
        } else {
            url = try Self.normalized(environment["ASKGATE_ADMIN_URL"] ?? "http://127.0.0.1:9090")
        }
        let token = try Self.token(self.tokenFile, environment)
        return AdminClient(url: url, token: token, certificateFile: self.roots)
    }

    /// With a scheme and without a slash at the end.
    static func normalized(_ written: String) throws(UsageFailure) -> String {
        var url = Substring(written)
        while url.hasSuffix("/") { url = url.dropLast() }
        if !url.contains("://") { url = "http://" + url }
        let isPlain = url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 && $0 != 0x40 }
        guard isPlain, url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw UsageFailure("--admin needs an address such as http://127.0.0.1:9090")
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
            guard let bytes = TokenCommand.read(file) else {
                throw UsageFailure("the token file \(file) cannot be read")
            }
            return Secret(bytes)
        }
        guard let token = environment["ASKGATE_OPERATOR_TOKEN"], !token.isEmpty else {
            throw UsageFailure("an operator's token is needed: set ASKGATE_OPERATOR_TOKEN or name a --token-file")
        }
        return Secret(token)
    }
}
