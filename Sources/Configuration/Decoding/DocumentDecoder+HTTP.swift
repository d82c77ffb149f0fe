import Gateway
import GatewayTypes

extension DocumentDecoder {
    private static let limitKeys = [
        "request_line", "header_fields", "header_bytes", "header_name", "header_value", "body_bytes", "body_rate",
        "connections",
    ]

    func http(_ node: YAMLNode) -> HTTPSettings {
        var http = HTTPSettings()
        let keys = ["limits", "timeouts", "drain", "heartbeat", "trusted_proxies", "failed_authentications"]
        guard let reader = MappingReader(node, "`http`", keys: keys, self.diagnostics) else { return http }
        if let limits = reader.optional("limits") { self.limits(limits, into: &http) }
        if let timeouts = reader.optional("timeouts") { self.timeouts(timeouts, into: &http) }
        if let drain = reader.optional("drain") { self.drain(drain, into: &http) }
        if let heartbeat = reader.optional("heartbeat") {
            let range = TimeSpan.seconds(1)...TimeSpan.seconds(300)
            http.heartbeat = heartbeat.duration("`heartbeat`", in: range, self.diagnostics) ?? http.heartbeat
        }
        if let proxies = reader.optional("trusted_proxies") { http.trustedProxies = self.trustedProxies(proxies) }
        if let failures = reader.optional("failed_authentications") {
            let read = failures.integer("`failed_authentications`", in: 0...1_000_000, self.diagnostics)
            http.failedAuthentications = read ?? http.failedAuthentications
        }
        return http
    }

    private func trustedProxies(_ node: YAMLNode) -> [NetworkPrefix] {
        let advice = "write addresses or ranges, such as [10.0.0.0/8, \"2001:db8::/32\"]"
        if case .sequence(let items) = node.content, items.isEmpty { return [] }
        return self.oneOrMore(node, "`trusted_proxies`", advice: advice).compactMap { item in
            guard let text = item.text("`trusted_proxies`", advice: advice, self.diagnostics) else { return nil }
            if let prefix = NetworkPrefix(text) { return prefix }
            self.diagnostics.error(
                item.position, "\(quoted(text)) is no network address, or has bits behind its prefix", advice)
            return nil
        }
    }

    private func limits(_ node: YAMLNode, into http: inout HTTPSettings) {
        let reader = MappingReader(node, "`http.limits`", keys: Self.limitKeys, self.diagnostics)
        func size(_ key: String, _ range: ClosedRange<Int>, _ field: WritableKeyPath<HTTPSettings, Int>) {
            let value = reader?.optional(key)?.byteSize("`\(key)`", in: range, self.diagnostics)
            if let value { http[keyPath: field] = value }
        }
        func number(_ key: String, _ range: ClosedRange<Int>, _ field: WritableKeyPath<HTTPSettings, Int>) {
            let value = reader?.optional(key)?.integer("`\(key)`", in: range, self.diagnostics)
            if let value { http[keyPath: field] = value }
        }
        size("request_line", 1024...65_536, \.maxRequestLine)
        number("header_fields", 8...1000, \.maxHeaderFields)
        size("header_bytes", 4096...262_144, \.maxHeaderBytes)
        size("header_name", 32...4096, \.maxHeaderName)
        size("header_value", 1024...65_536, \.maxHeaderValue)
        size("body_bytes", 1024...67_108_864, \.maxBodyBytes)
        size("body_rate", 0...1_048_576, \.minBodyRate)
        number("connections", 1...1_000_000, \.maxConnections)
    }

    private func timeouts(_ node: YAMLNode, into http: inout HTTPSettings) {
        let keys = ["head", "idle", "body_grace", "write_stall"]
        let reader = MappingReader(node, "`http.timeouts`", keys: keys, self.diagnostics)
        func read(_ key: String, _ field: WritableKeyPath<HTTPSettings, TimeSpan>) {
            let range = TimeSpan.milliseconds(100)...TimeSpan.seconds(3600)
            let value = reader?.optional(key)?.duration("`\(key)`", in: range, self.diagnostics)
            if let value { http[keyPath: field] = value }
        }
        read("head", \.headTimeout)
        read("idle", \.idleTimeout)
        read("body_grace", \.bodyGrace)
        read("write_stall", \.writeStallTimeout)
    }

    private func drain(_ node: YAMLNode, into http: inout HTTPSettings) {
        let reader = MappingReader(node, "`http.drain`", keys: ["delay", "deadline"], self.diagnostics)
        let range = TimeSpan.seconds(0)...TimeSpan.seconds(3600)
        let delay = reader?.optional("delay")?.duration("`delay`", in: range, self.diagnostics)
        let deadline = reader?.optional("deadline")?.duration("`deadline`", in: range, self.diagnostics)
        http.drainDelay = delay ?? http.drainDelay
        http.drainDeadline = deadline ?? http.drainDeadline
    }
}
