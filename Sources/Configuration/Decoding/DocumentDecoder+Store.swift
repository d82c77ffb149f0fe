import GatewayTypes
import RedisClient

extension DocumentDecoder {
    private static let redisKeys = [
        "kind", "address", "sentinel", "cluster", "user", "password", "tls", "database", "connect_timeout", "timeout",
        "instances",
    ]

    func store(_ node: YAMLNode) -> StoreSettings {
        guard let reader = MappingReader(node, "`store`", keys: Self.redisKeys, self.diagnostics),
            let kind = reader.required("kind", "write `kind: memory` or `kind: redis`")?
                .word("kind of store", among: ["memory", "redis"], self.diagnostics)
        else { return .memory }
        guard kind == "redis" else {
            for key in Self.redisKeys.dropFirst() where reader.has(key) {
                self.diagnostics.error(
                    reader.place(of: key), "the store `memory` has no `\(key)`", "remove it, or write `kind: redis`")
            }
            return .memory
        }
        return self.redis(node, reader).map { .redis($0) } ?? .memory
    }

    private func redis(_ node: YAMLNode, _ reader: MappingReader) -> RedisStoreSettings? {
        guard var settings = self.topology(node, reader) else { return nil }
        settings.user = reader.optional("user").flatMap { self.userName($0) }
        settings.password = reader.optional("password").flatMap { self.references.secret($0, "the store's password") }
        settings.tls = reader.optional("tls").flatMap { self.storeTLS($0) }
        if let database = reader.optional("database") {
            settings.database = database.integer("`database`", in: 0...15, self.diagnostics) ?? 0
            if case .cluster = settings.topology, settings.database != 0 {
                self.diagnostics.error(database.position, "a cluster has no database but 0", "remove `database`")
            }
        }
        func span(_ key: String, _ field: WritableKeyPath<RedisStoreSettings, TimeSpan>) {
            let range = TimeSpan.milliseconds(5)...TimeSpan.seconds(5)
            let value = reader.optional(key)?.duration("`\(key)`", in: range, self.diagnostics)
            if let value { settings[keyPath: field] = value }
        }
        span("connect_timeout", \.connectTimeout)
        span("timeout", \.timeout)
        let instances = reader.optional("instances")?.integer("`instances`", in: 1...1000, self.diagnostics)
        settings.instances = instances ?? 1
        if settings.user != nil, settings.password == nil, !reader.has("password") {
            self.diagnostics.error(
                reader.place(of: "user"), "there is a `user` and no `password`", "write `password: {env: NAME}`")
        }
        return settings
    }

    /// Exactly one of the three layouts.
    private func topology(_ node: YAMLNode, _ reader: MappingReader) -> RedisStoreSettings? {
        let advice =
            "write `address: HOST:6379`, `sentinel: {master: NAME, addresses: [HOST:26379]}` or `cluster: [HOST:6379]`"
        let written = ["address", "sentinel", "cluster"].filter { reader.has($0) }
        guard written.count == 1 else {
            let what = written.isEmpty ? "says nowhere where Redis is" : "names Redis in more than one way"
            self.diagnostics.error(
                written.last.map { reader.place(of: $0) } ?? node.position, "`store` \(what)", advice)
            return nil
        }
        if let node = reader.optional("address") {
            return self.redisAddress(node, "`address`", port: 6379).map { RedisStoreSettings(topology: .single($0)) }
        }
        if let node = reader.optional("cluster") {
            let seeds = self.redisAddresses(node, "`cluster`", port: 6379)
            return seeds.isEmpty ? nil : RedisStoreSettings(topology: .cluster(seeds: seeds))
        }
        return reader.optional("sentinel").flatMap { self.sentinel($0) }
    }

    private func sentinel(_ node: YAMLNode) -> RedisStoreSettings? {
        let advice = "write `sentinel: {master: NAME, addresses: [HOST:26379]}`"
        let keys = ["master", "addresses", "user", "password"]
        guard let reader = MappingReader(node, "`sentinel`", keys: keys, self.diagnostics),
            let name = reader.required("master", advice)?
                .text("`master`", advice: "write the name that the sentinels know", self.diagnostics),
            let list = reader.required("addresses", advice)
        else { return nil }
        let addresses = self.redisAddresses(list, "`addresses`", port: 26379)
        guard !addresses.isEmpty else { return nil }
        var settings = RedisStoreSettings(
            topology: .sentinel(master: ByteString(name), sentinels: addresses, credentials: nil))
        settings.sentinelUser = reader.optional("user").flatMap { self.userName($0) }
        settings.sentinelPassword = reader.optional("password")
            .flatMap { self.references.secret($0, "the sentinels' password") }
        return settings
    }

    private func userName(_ node: YAMLNode) -> String? {
        node.text("`user`", advice: "write the name of the ACL user", self.diagnostics)
    }

    private func redisAddresses(_ node: YAMLNode, _ what: String, port: UInt16) -> [RedisAddress] {
        self.oneOrMore(node, what, advice: "write a list of HOST:\(port)")
            .compactMap { self.redisAddress($0, what, port: port) }
    }

    /// `HOST`, `HOST:PORT` or `[IPV6]:PORT`.
    private func redisAddress(_ node: YAMLNode, _ what: String, port standard: UInt16) -> RedisAddress? {
        let advice = "write HOST:\(standard), and an IPv6 address in brackets"
        guard let text = node.text(what, advice: advice, self.diagnostics) else { return nil }
        var host = text[...]
        var port: UInt16? = standard
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty { port = rest.first == ":" ? UInt16(rest.dropFirst()) : nil }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            port = UInt16(text[text.index(after: colon)...])
            if host.contains(":") { port = nil }
        }
        let isHost = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x40 }
        guard isHost, let port, port > 0 else {
            self.diagnostics.error(node.position, "\(what) is \(quoted(text)), which is no address", advice)
            return nil
        }
        return RedisAddress(host: String(host), port: port)
    }

    private func storeTLS(_ node: YAMLNode) -> RedisStoreSettings.TLSSettings? {
        if case .scalar = node.content {
            return node.boolean("`tls`", self.diagnostics) == true ? RedisStoreSettings.TLSSettings() : nil
        }
        let keys = ["ca", "certificate", "key", "server_name"]
        guard let reader = MappingReader(node, "`tls`", keys: keys, self.diagnostics) else { return nil }
        func path(_ key: String) -> String? {
            guard let node = reader.optional(key) else { return nil }
            return self.references.keyFile(node, "`\(key)`")?.path
        }
        var tls = RedisStoreSettings.TLSSettings()
        tls.authorityFile = path("ca")
        tls.certificateFile = path("certificate")
        tls.keyFile = path("key")
        tls.serverName = reader.optional("server_name")?
            .text("`server_name`", advice: "write the name in the certificate", self.diagnostics)
        if tls.keyFile != nil, !reader.has("certificate") {
            self.diagnostics.error(reader.place(of: "key"), "there is a `key` and no `certificate`", "write both")
        }
        return tls
    }
}
