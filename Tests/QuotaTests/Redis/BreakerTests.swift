import GatewayTypes
import Testing

@testable import Quota

@Suite struct BreakerTests {
    private static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func aFewFailuresInARowOpenItAndSuccessBetweenDoesNot() {
        var breaker = Breaker()
        for _ in 0..<5 {
            breaker.failed(at: Self.at(0))
            breaker.failed(at: Self.at(0))
            breaker.succeeded()
        }
        let may1 = breaker.mayAsk(at: Self.at(0))
        #expect(may1)
        for _ in 0..<3 { breaker.failed(at: Self.at(0)) }
        #expect(!breaker.isClosed)
        let may2 = breaker.mayAsk(at: Self.at(99))
        #expect(!may2)
    }

    @Test func oneProbeAtATimeAndLongerRestsBetween() {
        var breaker = Breaker()
        for _ in 0..<3 { breaker.failed(at: Self.at(0)) }
        var now: Int64 = 0
        var rest: Int64 = 100
        for _ in 0..<6 {
            now += rest
            let may3 = breaker.mayAsk(at: Self.at(now - 1))
            #expect(!may3)
            let may4 = breaker.mayAsk(at: Self.at(now))
            #expect(may4)
            let may5 = breaker.mayAsk(at: Self.at(now))
            #expect(!may5)
            breaker.failed(at: Self.at(now))
            rest = min(rest * 2, 800)
        }
        now += rest
        let may6 = breaker.mayAsk(at: Self.at(now))
        #expect(may6)
        breaker.succeeded()
        #expect(breaker.isClosed)
        let may7 = breaker.mayAsk(at: Self.at(now))
        #expect(may7)
    }

    @Test func aProbeThatNobodyAnswersIsRepeated() {
        var breaker = Breaker()
        for _ in 0..<3 { breaker.failed(at: Self.at(0)) }
        let may8 = breaker.mayAsk(at: Self.at(100))
        #expect(may8)
        let may9 = breaker.mayAsk(at: Self.at(2100))
        #expect(!may9)
        let may10 = breaker.mayAsk(at: Self.at(2101))
        #expect(may10)
    }
}

@Suite struct QuotaKeyTests {
    @Test func keysOfOneTenantShareOneTagAndHoldNoBytesOfAnID() {
        let hostile = ["", "{", "}:cs:", "a\r\nFLUSHALL", String(repeating: "x", count: 5000), "\u{e9}", "e\u{301}"]
        var seen: Set<ByteString> = []
        for tenant in hostile {
            for id in hostile {
                let key = QuotaKey(TenantID(tenant)).key(.counters, .subject, QuotaKey.encoded(ByteString(id)))
                #expect(seen.insert(key).inserted)
                #expect(key.utf8.count < 140)
                let parts = key.string.split(separator: ":", omittingEmptySubsequences: false)
                #expect(parts.count == 4 && parts[0] == "ag1" && parts[2] == "cs")
                #expect(parts[1].hasPrefix("{t") && parts[1].hasSuffix("}"))
                let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~:{}")
                #expect(Set(key.string).isSubset(of: allowed))
            }
        }
    }
}
