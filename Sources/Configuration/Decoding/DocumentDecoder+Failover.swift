import Asking
import GatewayTypes

/// What a provider's calls do when one fails: keys that take over, retries, breaker, places.
extension DocumentDecoder {
    func readFailover(_ reader: MappingReader, _ provider: inout ProviderSettings) {
        if let node = reader.optional("keys") { self.keys(node, reader, &provider) }
        if let node = reader.optional("retry") { provider.retry = self.retry(node) }
        if let node = reader.optional("breaker") { provider.breaker = self.breaker(node) }
        if let node = reader.optional("concurrency") { provider.concurrency = self.concurrency(node) }
    }

    private func keys(_ node: YAMLNode, _ reader: MappingReader, _ provider: inout ProviderSettings) {
        let advice = "write a list such as [{env: FIRST_KEY}, {env: SECOND_KEY}]"
        guard let items = node.items("`keys`", advice: advice, self.diagnostics) else { return }
        if items.isEmpty { self.diagnostics.error(node.position, "`keys` is an empty list", advice) }
        if reader.has("key") {
            self.diagnostics.error(
                reader.place(of: "keys"), "a provider has both `key` and `keys`", "write one of the two")
        }
        var secrets: [ResolvedSecret] = []
        for item in self.capped(items, "`keys`") {
            guard let secret = self.references.secret(item, "a key") else { continue }
            self.checkForHeader(secret, item.position, "a key")
            if secrets.contains(where: { $0.value == secret.value }) {
                self.diagnostics.error(item.position, "this key stands here twice", "write each key once")
            }
            secrets.append(secret)
        }
        provider.key = secrets.first ?? provider.key
        provider.spareKeys = Array(secrets.dropFirst())
    }

    private func retry(_ node: YAMLNode) -> Provider.Retry {
        var retry = Provider.Retry()
        let keys = ["retries", "backoff", "max_pause"]
        guard let reader = MappingReader(node, "`retry`", keys: keys, self.diagnostics) else { return retry }
        let pauses = TimeSpan.milliseconds(1)...TimeSpan.seconds(60)
        retry.retries = reader.optional("retries")?.integer("`retries`", in: 0...10, self.diagnostics) ?? retry.retries
        retry.backoff =
            reader.optional("backoff")?.duration("`backoff`", in: pauses, self.diagnostics) ?? retry.backoff
        retry.longestPause =
            reader.optional("max_pause")?.duration("`max_pause`", in: pauses, self.diagnostics) ?? retry.longestPause
        return retry
    }

    private func breaker(_ node: YAMLNode) -> Provider.BreakerPolicy {
        if case .scalar("off", _) = node.content { return .off }
        var policy = Provider.BreakerPolicy()
        let keys = ["failures", "percent", "least_calls", "window", "open", "max_open"]
        guard let reader = MappingReader(node, "`breaker`", keys: keys, self.diagnostics) else { return policy }
        func number(_ key: String, _ range: ClosedRange<Int>, _ field: WritableKeyPath<Provider.BreakerPolicy, Int>) {
            let value = reader.optional(key)?.integer("`\(key)`", in: range, self.diagnostics)
            if let value { policy[keyPath: field] = value }
        }
        func span(_ key: String, _ field: WritableKeyPath<Provider.BreakerPolicy, TimeSpan>) {
            let range = TimeSpan.milliseconds(10)...TimeSpan.seconds(3600)
            let value = reader.optional(key)?.duration("`\(key)`", in: range, self.diagnostics)
            if let value { policy[keyPath: field] = value }
        }
        number("failures", 1...100_000, \.failures)
        number("percent", 1...100, \.percent)
        number("least_calls", 1...100_000, \.leastCalls)
        span("window", \.window)
        span("open", \.open)
        span("max_open", \.longestOpen)
        if policy.open > policy.longestOpen {
            self.diagnostics.error(
                reader.place(of: reader.has("open") ? "open" : "max_open"),
                "`open` (\(Units.text(of: policy.open))) is longer than `max_open` "
                    + "(\(Units.text(of: policy.longestOpen)))",
                "write a shorter `open` or a longer `max_open`")
        }
        return policy
    }

    private func concurrency(_ node: YAMLNode) -> Provider.Concurrency? {
        let keys = ["calls", "queue", "wait"]
        guard let reader = MappingReader(node, "`concurrency`", keys: keys, self.diagnostics),
            let calls = reader.required("calls", "write `calls:` and how many may be open at once")?
                .integer("`calls`", in: 1...65_535, self.diagnostics)
        else { return nil }
        var cap = Provider.Concurrency(calls: calls)
        cap.queue = reader.optional("queue")?.integer("`queue`", in: 0...100_000, self.diagnostics) ?? cap.queue
        let waits = TimeSpan.milliseconds(10)...TimeSpan.seconds(3600)
        cap.wait = reader.optional("wait")?.duration("`wait`", in: waits, self.diagnostics) ?? cap.wait
        return cap
    }
}
