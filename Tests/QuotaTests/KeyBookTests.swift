import GatewayTesting
import GatewayTypes
import Testing

@testable import Quota

/// Which ask was the first with an idempotency key, in the memory of one process.
@Suite("Idempotency keys in memory")
struct KeyBookTests {
    private let clock = TestClock()
    private var lifetime: TimeSpan { .seconds(60) }

    private func key(_ name: String, of tenant: TenantID = "acme") -> KeyName {
        KeyName(tenant: tenant, digest: ByteString(name))
    }

    private func record(_ question: UInt64) -> KeyRecord {
        KeyRecord(question: RequestID(high: 0, low: question), body: "00")
    }

    @Test func `The first ask has the key until it lets go of it or is forgotten`() {
        let book = MemoryKeyBook(clock: self.clock)
        #expect(book.claim(self.key("a"), for: self.record(1), lifetime: self.lifetime) == .mine)
        #expect(book.claim(self.key("a"), for: self.record(1), lifetime: self.lifetime) == .mine)
        #expect(book.claim(self.key("a"), for: self.record(2), lifetime: self.lifetime) == .taken(self.record(1)))
        #expect(book.claim(self.key("a", of: "other"), for: self.record(2), lifetime: self.lifetime) == .mine)
        // Another ask can't let go of it, nor end it.
        book.release(self.key("a"), self.record(2))
        book.finish(self.key("a"), self.record(2), lifetime: self.lifetime)
        #expect(book.claim(self.key("a"), for: self.record(2), lifetime: self.lifetime) == .taken(self.record(1)))
        book.finish(self.key("a"), self.record(1), lifetime: self.lifetime)
        var finished = self.record(1)
        finished.isFinished = true
        #expect(book.claim(self.key("a"), for: self.record(2), lifetime: self.lifetime) == .taken(finished))
        book.release(self.key("a"), self.record(1))
        #expect(book.claim(self.key("a"), for: self.record(2), lifetime: self.lifetime) == .mine)
        self.clock.advance(by: .seconds(61))
        #expect(book.claim(self.key("a"), for: self.record(3), lifetime: self.lifetime) == .mine)
    }

    @Test func `A full book lets finished keys of the tenant go, and never one that runs`() {
        let book = MemoryKeyBook(clock: self.clock, mostOfTenant: 100)
        for number in 0..<100 {
            #expect(
                book.claim(self.key("k\(number)"), for: self.record(UInt64(number)), lifetime: self.lifetime) == .mine)
        }
        #expect(book.claim(self.key("more"), for: self.record(100), lifetime: self.lifetime) == .full)
        #expect(book.claim(self.key("more", of: "other"), for: self.record(100), lifetime: self.lifetime) == .mine)
        book.finish(self.key("k7"), self.record(7), lifetime: self.lifetime)
        #expect(book.claim(self.key("more"), for: self.record(100), lifetime: self.lifetime) == .mine)
        #expect(book.claim(self.key("k7"), for: self.record(101), lifetime: self.lifetime) == .full)
        #expect(book.claim(self.key("k6"), for: self.record(101), lifetime: self.lifetime) == .taken(self.record(6)))
        #expect(book.count == 101)
    }

    @Test func `Whatever comes, no more is held than the bound`() {
        let book = MemoryKeyBook(clock: self.clock, mostOfTenant: 100)
        for number in 0..<5000 {
            let (key, record) = (self.key("k\(number)"), self.record(UInt64(number)))
            #expect(book.claim(key, for: record, lifetime: self.lifetime) == .mine)
            if number % 3 == 0 { book.release(key, record) } else { book.finish(key, record, lifetime: self.lifetime) }
            #expect(book.count <= 100 && book.places <= 300)
        }
        let long = MemoryKeyBook(clock: self.clock)
        _ = long.claim(self.key("first"), for: self.record(0), lifetime: .seconds(3600))
        for number in 1..<5000 {
            let (key, record) = (self.key("k\(number)"), self.record(UInt64(number)))
            _ = long.claim(key, for: record, lifetime: self.lifetime)
            long.release(key, record)
            #expect(long.places <= 100)
        }
    }

    @Test func `A record is read back as it was written, and nothing else is one`() {
        let record = KeyRecord(
            question: RequestID(high: .max, low: 5), body: ByteString(String(repeating: "a", count: 32)),
            isFinished: true)
        #expect(KeyRecord(record.text) == record)
        for text in ["", "f", record.text.string + "0", "x" + record.text.string.dropFirst()] {
            #expect(KeyRecord(ByteString(text)) == nil)
        }
    }
}
