import GatewayTypes

extension DocumentDecoder {
    private static let uri = MappingReader.Refusal(
        message: "the address of a key set is called `jwks_url` here", advice: "write `jwks_url: URL`")
    private static let kinds = ["jwks_url", "discovery", "jwks_file", "pem_file", "hmac_secret"]
    private static let remoteOptions = ["stale_for", "cooldown", "timeout", "required", "ca_file"]

    /// One key source or a list of them.
    func keys(_ reader: MappingReader) -> [IssuerSettings.Key] {
        let advice = "write `keys: {jwks_url: URL}`, or discovery, jwks_file, pem_file or hmac_secret"
        guard let node = reader.required("keys", advice) else { return [] }
        let keys = self.oneOrMore(node, "`keys`", advice: advice).flatMap { self.sources($0, reader, advice) }
        let remote = keys.first { if case .remote = $0.source { true } else { false } }
        if keys.count > 1, let remote {
            self.diagnostics.error(
                remote.position, "keys that are fetched stand beside other keys",
                "write one `jwks_url` or `discovery` and nothing else")
        }
        return keys
    }

    private func sources(_ node: YAMLNode, _ issuer: MappingReader, _ advice: String) -> [IssuerSettings.Key] {
        let reader = MappingReader(
            node, "a key source", keys: Self.kinds + ["encoding", "kid"] + Self.remoteOptions,
            refused: ["jwks_uri": Self.uri], self.diagnostics)
        guard let reader else { return [] }
        let kinds = Self.kinds.filter(reader.has)
        guard kinds.count == 1 else {
            if !(kinds.isEmpty && reader.has("jwks_uri")) {
                let message = kinds.isEmpty ? "a key source says no place" : "a key source says several places"
                self.diagnostics.error(node.position, message, "\(advice), each as an item of its own")
            }
            return []
        }
        self.checkOptions(reader, kind: kinds[0])
        if let url = reader.optional("jwks_url") { return self.remote(.jwksURL, url, reader) }
        if let place = reader.optional("discovery") { return self.discovery(place, reader, issuer) }
        if let file = reader.optional("jwks_file") { return self.jwks(file) }
        if let files = reader.optional("pem_file") { return self.pem(files, reader) }
        return reader.optional("hmac_secret").map { self.hmac($0, reader) } ?? []
    }

    private func checkOptions(_ reader: MappingReader, kind: String) {
        for option in Self.remoteOptions where reader.has(option) && kind != "jwks_url" && kind != "discovery" {
            self.diagnostics.error(
                reader.place(of: option), "only keys that are fetched have `\(option)`", "remove it")
        }
        if reader.has("kid") && !["pem_file", "hmac_secret"].contains(kind) {
            self.diagnostics.error(
                reader.place(of: "kid"), "the keys of a key set bring their own `kid`", "remove it")
        }
        if reader.has("encoding") && kind != "hmac_secret" {
            self.diagnostics.error(reader.place(of: "encoding"), "only `hmac_secret` has an encoding", "remove it")
        }
    }

    private func keyID(_ reader: MappingReader) -> ByteString? {
        let advice = "write the `kid` that tokens of this key have"
        return reader.optional("kid")?.text("`kid`", advice: advice, self.diagnostics).map { ByteString($0) }
    }

    private func jwks(_ node: YAMLNode) -> [IssuerSettings.Key] {
        guard let (path, bytes) = self.references.keyFile(node, "`jwks_file`") else { return [] }
        guard bytes.first(where: { $0 > 0x20 }) == 0x7B else {
            self.diagnostics.error(
                node.position, "`jwks_file` does not hold a JSON object: \(quoted(path))",
                "save the issuer's key set there, {\"keys\": […]}")
            return []
        }
        return [IssuerSettings.Key(source: .jwks(path: path, text: bytes), position: node.position)]
    }

    private func pem(_ node: YAMLNode, _ reader: MappingReader) -> [IssuerSettings.Key] {
        let files = self.oneOrMore(node, "`pem_file`", advice: "write the path of a PEM file")
        let keyID = self.keyID(reader)
        if files.count > 1 && keyID != nil {
            self.diagnostics.error(
                reader.place(of: "kid"), "one `kid` for several files", "write one key source for each file")
        }
        return files.compactMap { file in
            guard let (path, bytes) = self.references.keyFile(file, "`pem_file`") else { return nil }
            let text = String(decoding: bytes, as: UTF8.self)
            guard !text.contains("PRIVATE KEY-----") else {
                self.diagnostics.error(
                    file.position, "`pem_file` holds a private key: \(quoted(path))",
                    "write the path of the public key, and keep the private one away from this machine")
                return nil
            }
            guard text.contains("-----BEGIN ") else {
                self.diagnostics.error(
                    file.position, "`pem_file` does not hold PEM: \(quoted(path))", "write the path of a PEM file")
                return nil
            }
            return IssuerSettings.Key(
                source: .pem(path: path, text: bytes, keyID: keyID), position: file.position)
        }
    }

    private func hmac(_ node: YAMLNode, _ reader: MappingReader) -> [IssuerSettings.Key] {
        let keyID = self.keyID(reader)
        let encoding = reader.optional("encoding")?.word("encoding", among: ["text", "base64"], self.diagnostics)
        guard var secret = self.references.secret(node, "`hmac_secret`") else { return [] }
        if encoding == "base64" {
            guard let bytes = secret.value.reveal({ Base64.decode($0) }) else {
                self.diagnostics.error(
                    node.position, "`hmac_secret` from \(secret.source) is not base64",
                    "put base64 there or write `encoding: text`")
                return []
            }
            secret.value = Secret(bytes)
        }
        return [IssuerSettings.Key(source: .hmac(secret, keyID: keyID), position: node.position)]
    }

    // MARK: checks over the whole issuer

    /// An issuer signs either with a shared secret or with key pairs; a mixture invites key confusion (RFC 8725 §3.1).
    func checkKeys(_ issuer: IssuerSettings, _ reader: MappingReader) {
        let minimum = issuer.algorithms.compactMap(\.minSecretBytes).max()
        let shared = issuer.algorithms.count { $0.minSecretBytes != nil }
        if shared > 0 && shared < issuer.algorithms.count {
            self.diagnostics.error(
                reader.place(of: "algorithms"), "HS algorithms stand beside algorithms with key pairs",
                "write two issuers, one for each kind")
        }
        for key in issuer.keys {
            switch key.source {
            case .hmac(let secret, _): self.check(secret, minimum, key.position, issuer)
            case .jwks, .pem, .remote:
                guard let minimum, shared == issuer.algorithms.count else { continue }
                self.diagnostics.error(
                    key.position, "HS algorithms need a shared secret, not a public key",
                    "write `hmac_secret:` with a secret of \(minimum) bytes or more")
            }
        }
        self.checkKeyIDs(issuer.keys)
    }

    private func check(
        _ secret: ResolvedSecret, _ minimum: Int?, _ position: SourcePosition, _ issuer: IssuerSettings
    ) {
        guard let minimum else {
            if issuer.algorithms.isEmpty { return }
            return self.diagnostics.error(
                position, "`hmac_secret` is given but no HS algorithm is", "write `algorithms: [HS256]`")
        }
        let count = secret.value.reveal(\.count)
        guard count < minimum else { return }
        self.diagnostics.error(
            position, "`hmac_secret` from \(secret.source) has \(count) bytes, the algorithms need \(minimum)",
            "put a random secret of \(minimum) bytes or more there")
    }

    private func checkKeyIDs(_ keys: [IssuerSettings.Key]) {
        var seen: Set<ByteString> = []
        for key in keys {
            let keyID: ByteString? =
                switch key.source {
                case .jwks, .remote: nil
                case .pem(_, _, let keyID), .hmac(_, let keyID): keyID
                }
            if let keyID, !seen.insert(keyID).inserted {
                self.diagnostics.error(
                    key.position, "a second key with the `kid` \(quoted(keyID.string))", "write another `kid`")
            }
        }
    }

    func checkGuest(_ issuer: IssuerSettings, _ reader: MappingReader) {
        guard issuer.isGuest else {
            if reader.has("token_lifetime") {
                self.diagnostics.error(
                    reader.place(of: "token_lifetime"), "only an issuer of guests has a `token_lifetime`",
                    "remove it or write `guest: true`")
            }
            return
        }
        let hasSecret = issuer.keys.contains { if case .hmac = $0.source { true } else { false } }
        guard !hasSecret, !issuer.keys.isEmpty else { return }
        self.diagnostics.error(
            reader.place(of: "guest"), "Askgate issues the tokens of guests itself and needs a secret to sign them",
            "write `keys: {hmac_secret: {env: NAME}}` and `algorithms: [HS256]`")
    }
}
