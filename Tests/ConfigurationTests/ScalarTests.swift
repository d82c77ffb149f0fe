import Configuration
import GatewayTypes
import Routing
import Testing

/// Words that YAML readers like to turn into something else.
@Suite struct ScalarTests {
    @Test(arguments: ["no", "on", "null", "0755", "1e3", "1_000", "22.0", "true", "0x1F", "12:30:45", "2001-01-01"])
    func aModelNameStaysAsItIsWritten(_ name: String) throws {
        for written in [name, "\"\(name)\"", "'\(name)'"] {
            let text = goodConfiguration.replacing(only: "model: small", by: "model: \(written)")
            let routes = try load(text).document.tenants[0].tasks[0].routes.routes
            #expect(routes == [ProviderRoute(provider: "main", model: ModelName(name))])
        }
    }

    @Test(arguments: ["yes", "on", "True", "TRUE", "1", "y", "~"])
    func onlyTrueAndFalseAreTruthValues(_ word: String) {
        #expect(!problems(goodConfiguration.replacing(only: "limit: 20", by: "limit: 20, observe: \(word)")).isEmpty)
    }

    @Test(arguments: ["1e3", "0x14", "020", "+20", "1_000", "20.0", "٢٠", "99999999999999999999", "''", "20 "])
    func onlyPlainDigitsAreANumber(_ word: String) {
        let text = goodConfiguration.replacing(only: "limit: 20", by: "limit: \"\(word)\"")
        #expect(!problems(text).isEmpty)
    }

    @Test func aNumberInQuotesIsTheSameNumber() throws {
        for written in ["'20'", "\"20\"", "20"] {
            let text = goodConfiguration.replacing(only: "limit: 20", by: "limit: \(written)")
            #expect(try load(text).document.tenants[0].plans[0].limits == [Limit(.requestsPerMinute, quantity: 20)])
        }
    }

    @Test(arguments: [("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("0s", 0), ("1h", 3_600_000)])
    func durationsCarryTheirUnit(_ text: String, _ milliseconds: Int64) throws {
        let configuration = "http: {drain: {delay: \(text)}}\n" + goodConfiguration
        #expect(try load(configuration).document.http.drainDelay == .milliseconds(milliseconds))
    }

    @Test(arguments: ["30", "1.5s", "-1s", "5 s", "1w", "s", "99999999999999d", "1S"])
    func otherDurationsAreRefused(_ text: String) {
        #expect(!problems("http: {drain: {delay: \"\(text)\"}}\n" + goodConfiguration).isEmpty)
    }

    @Test(arguments: [("131072", 131_072), ("128KiB", 131_072), ("1MB", 1_000_000), ("2MiB", 2_097_152)])
    func sizesMayCarryAUnit(_ text: String, _ bytes: Int) throws {
        let configuration = "http: {limits: {body_bytes: \(text)}}\n" + goodConfiguration
        #expect(try load(configuration).document.http.maxBodyBytes == bytes)
    }

    @Test func namesThatDifferInBytesOnlyAreRefusedRatherThanMixedUp() {
        for name in ["café", "cafe\u{301}", "بازنویسی", "a b", "-a", String(repeating: "a", count: 65)] {
            #expect(!problems(goodConfiguration.replacing(only: "acme:", by: "\"\(name)\":")).isEmpty)
        }
    }
}
