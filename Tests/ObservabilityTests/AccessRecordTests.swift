import Foundation
import GatewayTypes
import Testing

@testable import Observability

@Suite("Access record")
struct AccessRecordTests {
    private func record() -> AccessRecord {
        AccessRecord(
            time: WallTime(microseconds: 1_800_000_000_042_999), requestID: RequestID(high: 1, low: 0xABC),
            outcome: .answered, total: .milliseconds(1234))
    }

    private func line(_ record: AccessRecord) -> String {
        var bytes: [UInt8] = []
        record.append(to: &bytes)
        return text(bytes)
    }

    @Test("tells every field of a full ask")
    func fullAsk() throws {
        var record = self.record()
        record.tenant = "acme"
        record.subject = "user-1"
        record.plan = "pro"
        record.task = "summarize"
        record.provider = "main"
        record.model = "small-1"
        record.route = "/api/process"
        record.status = 200
        record.overhead = .microseconds(41)
        record.firstToken = .microseconds(250_500)
        record.textLength = 120
        record.usage = TokenUsage(input: 141, output: 37, total: 190, source: .provider)
        record.attempts = 2
        record.isStream = true
        record.cache = .shared
        record.trace = TraceID(high: 0xF, low: 2)
        let line = self.line(record)
        #expect(
            line == """
                {"time":"2027-01-15T08:00:00.042Z","request_id":"00000000000000010000000000000abc",\
                "tenant":"acme","subject":"user-1","plan":"pro","task":"summarize","provider":"main",\
                "model":"small-1","route":"/api/process","outcome":"answered","refusal":null,"status":200,"total_ms":1234,\
                "overhead_ms":0.041,"first_token_ms":250.5,"text_length":120,"input_tokens":141,\
                "output_tokens":37,"total_tokens":190,"usage_source":"provider","attempts":2,"provider_failure":null,"stream":true,\
                "cancelled":false,"cache":"shared","trace_id":"000000000000000f0000000000000002"}

                """)
        #expect(try members(line).count == 26)
    }

    @Test("has the same members when nothing is known")
    func emptyAsk() throws {
        var full = self.record()
        full.tenant = "acme"
        var bare = self.record()
        bare.outcome = .failed(.unauthenticated)
        let known = try members(self.line(bare))
        #expect(known.keys.sorted() == (try members(self.line(full))).keys.sorted())
        #expect(known["outcome"] as? String == "unauthenticated")
        for name in ["tenant", "subject", "task", "status", "input_tokens", "usage_source", "trace_id", "route"] {
            #expect(known[name] as? String == "null", "\(name)")
        }
    }

    @Test(
        "stays one line, whatever a token calls its subject",
        arguments: [
            "a\nb", "a\r\n{\"forged\":1}", "quote\"back\\slash", "tab\t nul\u{0} esc\u{1B}[31m del\u{7F}",
            "c1 \u{85}\u{9B}31m", "separators \u{2028}\u{2029}", "کاربر ۱", "👩‍👩‍👧", "",
        ])
    func hostileSubject(subject: String) throws {
        var record = self.record()
        record.subject = SubjectID(subject)
        let line = self.line(record)
        let body = line.dropLast()
        #expect(line.hasSuffix("}\n"))
        #expect(!body.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!body.unicodeScalars.contains { $0.value == 0x2028 || $0.value == 0x2029 })
        #expect(try members(body)["subject"] as? String == subject)
    }

    @Test(
        "cuts a long subject between scalars",
        arguments: [
            (String(repeating: "x", count: 300), 255), (String(repeating: "é", count: 200), 254),
            (String(repeating: "€", count: 100), 255), (String(repeating: "😀", count: 64), 252),
            ("x" + String(repeating: "😀", count: 64), 253),
        ])
    func longSubject(subject: String, kept: Int) throws {
        var record = self.record()
        record.subject = SubjectID(subject)
        let written = try #require(try members(self.line(record).dropLast())["subject"] as? String)
        #expect(written.utf8.count == kept)
        #expect(subject.utf8.starts(with: written.utf8))
    }

    @Test("names every outcome and source", arguments: ErrorCode.allCases)
    func outcomes(code: ErrorCode) throws {
        var record = self.record()
        record.outcome = .failed(code)
        record.usage = TokenUsage(input: 3, output: 4, source: .estimated)
        let written = try members(self.line(record).dropLast())
        #expect(written["outcome"] as? String == code.rawValue)
        #expect(written["usage_source"] as? String == "estimated")
        #expect(written["total_tokens"] as? Double == 7)
    }

    @Test("has no field that could hold content")
    func fieldTypes() {
        let allowed = [
            "WallTime", "RequestID", "Optional<TenantID>", "Optional<SubjectID>", "Optional<PlanName>",
            "Optional<TaskName>", "Optional<ProviderName>", "Optional<ModelName>", "Optional<StaticString>", "Outcome",
            "Optional<Int>", "TimeSpan", "Optional<TimeSpan>", "Optional<TokenUsage>", "Int", "Bool",
            "Optional<TraceID>", "Optional<CacheUse>",
            // Made of a member of a closed set and of nothing else.
            "Optional<RefusalReason>",
        ]
        for child in Mirror(reflecting: self.record()).children {
            #expect(allowed.contains("\(type(of: child.value))"), "\(child.label ?? "?")")
        }
    }
}

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "are RFC 3339 in UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999_999, "2024-02-29T23:59:59.999Z"), (4_107_542_399_001_000, "2100-02-28T23:59:59.001Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00.000Z"),
            (253_402_300_799_999_000, "9999-12-31T23:59:59.999Z"),
        ])
    func known(microseconds: Int64, expected: String) {
        var bytes: [UInt8] = []
        bytes.append(timestamp: WallTime(microseconds: microseconds))
        #expect(text(bytes) == expected)
    }

    @Test("agree with the calendar on every day of four centuries")
    func everyDay() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for day in stride(from: Int64(-30_000), to: 120_000, by: 1) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            var bytes: [UInt8] = []
            bytes.append(timestamp: WallTime(seconds: day * 86_400))
            let expected = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
                let digits = String(number ?? 0)
                return String(repeating: "0", count: width - digits.count) + digits
            }
            guard bytes.starts(with: expected.joined(separator: "-").utf8) else {
                Issue.record("day \(day): \(text(bytes))")
                return
            }
        }
    }
}
