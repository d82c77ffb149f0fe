import GatewayTypes
import Testing

@Suite struct ByteStringTests {
    @Test func canonicalEquivalentsAreDifferent() {
        let composed = SubjectID("caf\u{e9}")
        let decomposed = SubjectID("cafe\u{301}")
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func equalBytesAreEqualHoweverStored() {
        let long = String(repeating: "abc\u{1f600}", count: 50)
        #expect(ByteString(long) == ByteString(utf8: Array(long.utf8)))
        #expect(ByteString(long).hashValue == ByteString(utf8: Array(long.utf8))?.hashValue)
    }

    @Test func brokenUTF8IsNoByteString() { #expect(ByteString(utf8: [0x61, 0xFF]) == nil) }

    @Test func orderIsByByte() {
        #expect(ByteString("Z") < ByteString("a"))
        #expect(ByteString("a") < ByteString("ab"))
        #expect(!(ByteString("e\u{301}") < ByteString("e\u{301}")))
    }
}

@Suite struct SmallValueTests {
    @Test func requestIDIsThirtyTwoDigits() {
        #expect(RequestID(high: 0, low: 0xab).description == String(repeating: "0", count: 30) + "ab")
        #expect(RequestID.random() != RequestID.random())
    }

    @Test func secretNeverPrints() {
        let secret = Secret("sk-canary")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
            #expect(!text.contains("canary"))
        }
        #expect(secret.reveal { $0 } == Array("sk-canary".utf8))
    }

    @Test(arguments: [(1_999_999, 1), (-1, -1), (-1_000_000, -1), (-1_000_001, -2), (0, 0)] as [(Int64, Int64)])
    func secondsRoundDown(microseconds: Int64, seconds: Int64) {
        #expect(WallTime(microseconds: microseconds).seconds == seconds)
    }

    @Test func everyLimitKindHasItsOwnCode() {
        for kind in LimitKind.allCases { #expect(ErrorCode(exceeded: kind).rawValue == kind.rawValue + "_exceeded") }
    }
}
