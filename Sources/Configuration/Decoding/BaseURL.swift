/// The address of a provider: scheme, host, optional port and path.
enum BaseURL {
    /// What is wrong with an address; the texts never repeat it, since people paste keys into addresses.
    enum Problem: String, Error {
        case scheme = "does not begin with https:// or http://"
        case user = "holds a user name or password"
        case host = "has no host"
        case port = "has a port that is not a number from 1 to 65535"
        case query = "holds a `?` or `#`"
        case signs = "holds spaces or signs outside ASCII"
    }

    /// The address without a slash at its end.
    static func parse(_ text: String) -> Result<String, Problem> {
        guard text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != 0x5C && $0 != 0x22 && $0 != 0x3C }) else {
            return .failure(.signs)
        }
        guard let (scheme, rest) = self.afterScheme(text) else { return .failure(.scheme) }
        guard !rest.utf8.contains(0x3F), !rest.utf8.contains(0x23) else { return .failure(.query) }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.utf8.contains(0x40) else { return .failure(.user) }
        let (host, port) = self.split(authority)
        guard !host.isEmpty else { return .failure(.host) }
        if let port {
            guard let number = Digits.integer(port), (1...65_535).contains(number) else { return .failure(.port) }
        }
        var end = rest.endIndex
        while end > rest.startIndex, rest[rest.index(before: end)] == "/" { end = rest.index(before: end) }
        return .success(scheme + rest[..<end])
    }

    private static func afterScheme(_ text: String) -> (scheme: String, rest: Substring)? {
        for scheme in ["https://", "http://"] where text.lowercased().hasPrefix(scheme) {
            return (scheme, text.dropFirst(scheme.count))
        }
        return nil
    }

    /// Host and port, brackets of an IPv6 address kept with the host.
    private static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
        let tail = authority.lastIndex(of: "]").map { authority[$0...] } ?? authority
        guard let colon = tail.firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    /// Whether the address is this machine's own.
    static func isLoopback(_ url: String) -> Bool {
        guard let rest = self.afterScheme(url)?.rest else { return false }
        let host = self.split(rest.prefix { $0 != "/" }).host.lowercased()
        return host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
    }
}

/// Which headers an operator may add to provider calls.
enum HeaderNames {
    private static let framing = [
        "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "te", "trailer",
        "connection", "keep-alive", "upgrade", "expect", "accept", "accept-encoding", "user-agent", "via",
    ]
    private static let keys = ["authorization", "x-api-key", "x-goog-api-key", "proxy-authorization"]

    static func isToken(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 128
            && name.utf8.allSatisfy { byte in
                Digits.isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    /// Why a header is not the operator's to set; nil when it is.
    static func refusal(of name: String, _ keyPlace: ProviderSettings.KeyPlace) -> MappingReader.Refusal? {
        let lower = name.lowercased()
        var isKey = self.keys.contains(lower)
        if case .header(let place, _) = keyPlace, place.lowercased() == lower { isKey = true }
        guard isKey else { return self.framingRefusal(of: name) }
        return MappingReader.Refusal(
            message: "`\(lower)` carries the provider's key", advice: "write `key: {env: NAME}` instead")
    }

    /// Why a header cannot be set at all; nil when it can.
    static func framingRefusal(of name: String) -> MappingReader.Refusal? {
        let name = name.lowercased()
        guard self.framing.contains(name) else { return nil }
        return MappingReader.Refusal(message: "`\(name)` is set by Askgate itself", advice: "remove it")
    }

    /// Whether a literal under this name is most likely a secret.
    static func soundsSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["key", "token", "secret", "auth", "cookie", "password"].contains { name.contains($0) }
    }
}
