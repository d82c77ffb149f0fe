import GatewayTypes
import Testing

@Suite("Random words")
struct RandomWordsTests {
    @Test("are given once, over many fetches, and in no two generators alike")
    func once() {
        var first = RandomWords()
        var second = RandomWords()
        var seen: Set<UInt64> = []
        for _ in 0..<1000 {
            seen.insert(first.next())
            seen.insert(second.next())
        }
        #expect(seen.count == 2000)
        // Every bit is set in about half of them.
        for bit in 0..<64 {
            let count = seen.count { $0 >> UInt64(bit) & 1 == 1 }
            #expect((800...1200).contains(count), "bit \(bit)")
        }
    }

    @Test("make identifiers that name their instance")
    func identifiers() {
        var words = RandomWords()
        let plain = (0..<100).map { _ in RequestID.random(using: &words) }
        #expect(Set(plain).count == 100)
        #expect(Set(plain.map(\.instance)).count > 90)
        #expect(RequestID.random(of: 7, using: &words).instance == 7)
    }
}
