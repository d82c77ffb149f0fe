import Asking
import Configuration
import GatewayTypes
import Routing
import Testing

/// Keys, retries, breaker, places and groups of routes in the file.
@Suite struct FailoverTests {
    private static let key = "key: {env: MAIN_KEY}}"

    private func provider(_ more: String) throws -> ProviderSettings {
        try load(goodConfiguration.replacing(only: Self.key, by: more + "}")).document.providers[0]
    }

    private func routes(_ text: String) throws -> [[String]] {
        let document = try load(
            goodConfiguration.replacing(only: "[{provider: main, model: small}]", by: text)
        ).document
        return document.tenants[0].tasks[0].routes.grouped.map { $0.map(\.model.string) }
    }

    @Test func severalKeysShareTheWork() throws {
        let provider = try self.provider("keys: [{env: MAIN_KEY}, {env: SPARE_KEY}]")
        #expect(provider.key?.source == .environment("MAIN_KEY"))
        #expect(provider.spareKeys.map(\.source) == [.environment("SPARE_KEY")])
        let text = try load(
            goodConfiguration.replacing(only: Self.key, by: "keys: [{env: MAIN_KEY}, {env: SPARE_KEY}]}")
        ).document.effectiveText
        #expect(text.contains("SPARE_KEY") && !text.contains("canary"))
    }

    @Test func numbersAreReadAndDefaultsStandWhereNoneIsWritten() throws {
        let provider = try self.provider(
            "retry: {retries: 2, backoff: 50ms, max_pause: 1s}, breaker: {failures: 3, open: 2s}, "
                + "concurrency: {calls: 4, queue: 9, wait: 3s}")
        #expect(provider.retry.retries == 2 && provider.retry.backoff == .milliseconds(50))
        #expect(provider.retry.longestPause == .seconds(1))
        #expect(provider.breaker.failures == 3 && provider.breaker.open == .seconds(2))
        #expect(provider.breaker.longestOpen == .seconds(60) && provider.breaker.percent == 50)
        #expect(provider.concurrency?.calls == 4 && provider.concurrency?.queue == 9)
        #expect(provider.concurrency?.wait == .seconds(3))
        let plain = try self.provider(Self.key.replacing(only: "}}", by: "}"))
        #expect(plain.retry.retries == 0 && plain.concurrency == nil && plain.breaker.failures == 10)
        #expect(try self.provider("breaker: off").breaker.failures == 0)
    }

    @Test(arguments: [
        ("keys: []", "`keys` is an empty list"), ("keys: [sk-canary]", "a key is written into the file"),
        ("key: {env: MAIN_KEY}, keys: [{env: SPARE_KEY}]", "a provider has both `key` and `keys`"),
        ("keys: [{env: MAIN_KEY}, {env: MAIN_KEY}]", "this key stands here twice"),
        ("keys: [{env: SPLIT}]", "a key from environment variable SPLIT holds line breaks"),
        ("retry: {retries: 11}", "`retries` is 11, out of range"), ("retry: {tries: 1}", "unknown key `tries`"),
        ("breaker: on", "`breaker` is a single value where a mapping belongs"),
        ("breaker: {open: 2m}", "`open` (2m) is longer than `max_open` (1m)"),
        ("concurrency: {queue: 3}", "`concurrency` has no `calls`"), ("concurrency: {calls: 0}", "`calls` is 0"),
    ])
    func mistakesAreToldAndNoSecretIs(_ text: String, _ wanted: String) {
        let found = problems(goodConfiguration.replacing(only: Self.key, by: text + "}"))
        #expect(found.contains { $0.contains(wanted) }, "\(found)")
        #expect(found.allSatisfy { !$0.contains("canary") })
    }

    @Test func routesStandInGroupsOrOneByOne() throws {
        #expect(try self.routes("[{provider: main, model: a}, {provider: main, model: b}]") == [["a"], ["b"]])
        let one = "[{provider: main, model: a, weight: 2}, {provider: main, model: b, weight: 1}]"
        #expect(try self.routes(one) == [["a", "b"]])
        #expect(try self.routes("[\(one), {provider: demo}]") == [["a", "b"], ["demo"]])
        #expect(try self.routes("[{provider: demo}, \(one)]") == [["demo"], ["a", "b"]])
    }

    @Test(arguments: [
        ("[[], {provider: demo}]", "a group of `routes` is empty"),
        ("[[{provider: demo}], {provider: main, model: a, weight: 2}]", "a route outside the groups has a weight"),
        ("[[{provider: main, model: a}], {provider: main, model: a}]", "a second route to `main` with the same model"),
        (
            "[[{provider: main, model: a, weight: 1}, {provider: demo}], {provider: main, model: b}]",
            "some of these routes have a weight and some have none"
        ),
        ("[[[{provider: demo}]]]", "a route is a list where a mapping belongs"),
    ])
    func mistakesOfGroupsAreTold(_ text: String, _ wanted: String) {
        let found = problems(goodConfiguration.replacing(only: "[{provider: main, model: small}]", by: text))
        #expect(found.contains { $0.contains(wanted) }, "\(found)")
    }
}
