import GatewayTypes
import Testing

@testable import Observability

@Suite("Record of a follow")
struct FollowRecordTests {
    private func line(_ record: FollowRecord) -> String {
        var bytes: [UInt8] = []
        record.append(to: &bytes)
        return text(bytes)
    }

    private func record(_ kind: FollowRecord.Kind = .follow) -> FollowRecord {
        FollowRecord(
            kind, time: WallTime(microseconds: 1_800_000_000_042_999), requestID: RequestID(high: 1, low: 0xABC),
            outcome: .answered, total: .microseconds(1500))
    }

    @Test func `It tells who came for which question, and where it was`() throws {
        var record = self.record()
        record.question = RequestID(high: 2, low: 0xDEF)
        record.tenant = "acme"
        record.subject = "user-1"
        record.plan = "pro"
        record.route = "/v1/questions/{id}"
        record.status = 200
        record.isElsewhere = true
        record.trace = TraceID(high: 0xF, low: 2)
        let line = self.line(record)
        #expect(
            line == """
                {"time":"2027-01-15T08:00:00.042Z","kind":"follow","request_id":"00000000000000010000000000000abc",\
                "question_id":"00000000000000020000000000000def","tenant":"acme","subject":"user-1","plan":"pro",\
                "route":"/v1/questions/{id}","outcome":"answered","refusal":null,"status":200,"total_ms":1.5,\
                "elsewhere":true,"trace_id":"000000000000000f0000000000000002"}

                """)
        #expect(try members(line).count == 14)
    }

    @Test func `It has the same members when nothing is known`() throws {
        var bare = self.record(.cancel)
        bare.outcome = .failed(.unauthenticated)
        let line = self.line(bare)
        #expect(try members(line).count == 14)
        #expect(line.contains(#""kind":"cancel""#) && line.contains(#""outcome":"unauthenticated""#))
        #expect(line.contains(#""question_id":null"#) && line.contains(#""elsewhere":false"#))
    }

    @Test func `A subject cannot leave its place in it`() throws {
        var record = self.record()
        record.subject = "a\",\"kind\":\"x\n{"
        #expect(try members(self.line(record)).count == 14)
        #expect(self.line(record).split(separator: "\n").count == 1)
    }
}
