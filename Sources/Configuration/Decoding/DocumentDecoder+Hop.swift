import Gateway
import GatewayTypes

/// The listener by which instances reach each other.
extension DocumentDecoder {
    /// `{address, port, advertise, secret}`
    func hop(_ node: YAMLNode) -> HopSettings? {
        let reader = MappingReader(
            node, "the internal listener", keys: ["address", "port", "advertise", "secret"],
            refused: ["tls": Self.noTLS], self.diagnostics)
        guard let reader else { return nil }
        let listener = self.listener(reader, port: 8081)
        let advertised = reader.optional("advertise").flatMap(self.advertised)
        if !reader.has("advertise"), listener.isWildcard {
            self.diagnostics.error(
                reader.place(of: "address"),
                "the internal listener is bound to every address, so that none can be told to the other instances",
                "write `advertise: HOST:\(listener.port)` with the name or address by which they reach this one")
        }
        if !reader.has("advertise"), listener.isLoopback {
            self.diagnostics.warning(
                reader.place(of: "address"),
                "the internal listener is bound to \(listener.address), which instances on other machines do not reach",
                "write `address:` with an address of the network that the instances share, or `advertise`")
        }
        return HopSettings(listener: listener, advertised: advertised, secrets: self.hopSecrets(reader))
    }

    /// A host and a port; the host is a name, an IPv4 address, or an IPv6 address in brackets.
    private func advertised(_ node: YAMLNode) -> String? {
        let advice = "write the host and the port by which other instances reach this one, such as 10.0.0.7:8081"
        guard let text = node.text("`advertise`", advice: advice, self.diagnostics) else { return nil }
        guard let colon = text.lastIndex(of: ":"), Self.isHost(text[..<colon]),
            let port = Digits.integer(text[text.index(after: colon)...]), (1...65_535).contains(port)
        else {
            self.diagnostics.error(
                node.position, "`advertise` is \(quoted(text)), which is not a host with a port", advice)
            return nil
        }
        if ["0.0.0.0", "[::]"].contains(text[..<colon]) {
            self.diagnostics.error(node.position, "`advertise` is \(quoted(text)), which reaches nobody", advice)
        }
        return text
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 4
                && host.dropFirst().dropLast().utf8.allSatisfy {
                    $0 == 0x3A || Digits.isDigit($0) || (0x41...0x46).contains($0 & 0xDF)
                }
        }
        return !host.isEmpty && host.utf8.first != 0x2D && host.utf8.first != 0x2E
            && host.utf8.allSatisfy {
                Digits.isDigit($0) || $0 == 0x2D || $0 == 0x2E || (0x41...0x5A).contains($0 & 0xDF)
            }
    }

    private func hopSecrets(_ reader: MappingReader) -> [ResolvedSecret] {
        let advice = "write `secret: {file: PATH}`, the same for all instances"
        guard let node = reader.required("secret", advice) else { return [] }
        let nodes = self.oneOrMore(node, "`secret`", advice: advice)
        if nodes.count > HopKeys.mostSecrets {
            self.diagnostics.error(
                nodes[HopKeys.mostSecrets].position, "there are more than \(HopKeys.mostSecrets) secrets",
                "write the one that signs and the one before it")
        }
        return nodes.prefix(HopKeys.mostSecrets).compactMap { node in
            guard let secret = self.references.secret(node, "the secret of the internal listener") else { return nil }
            let count = secret.value.reveal(\.count)
            guard count >= HopKeys.leastBytes else {
                self.diagnostics.error(
                    node.position,
                    "the secret of the internal listener from \(secret.source) has \(count) bytes, "
                        + "fewer than \(HopKeys.leastBytes)",
                    "put a random secret of \(HopKeys.leastBytes) bytes or more there")
                return nil
            }
            return secret
        }
    }

    /// Without a shared store no instance finds another.
    func checkHop(_ document: ConfigurationDocument, _ reader: MappingReader) {
        guard document.listeners.hop != nil, case .memory = document.store,
            let listeners = reader.optional("listeners"), case .mapping(let entries) = listeners.content,
            let entry = entries.first(where: { $0.key == "internal" })
        else { return }
        self.diagnostics.error(
            entry.keyPosition, "the internal listener serves instances that share a store, and this one's is memory",
            "write `store: {kind: redis}` with its address, or remove `internal`")
    }
}

extension ListenerAddress {
    /// Whether it listens on every address of the machine.
    package var isWildcard: Bool { self.address == "0.0.0.0" || self.address == "::" }

    var isLoopback: Bool { self.address.hasPrefix("127.") || self.address == "::1" }
}
