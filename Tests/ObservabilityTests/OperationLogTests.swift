import Foundation
import GatewayTypes
import Testing

@testable import Observability

@Suite("Operation log")
struct OperationLogTests {
    private let clock = HandClock()

    private func lines(
        level: OperationLog.Level = .info, format: OperationLog.Format = .json, _ body: (OperationLog) -> Void
    ) throws -> [String] {
        let folder = try TemporaryFolder()
        let log = try OperationLog(
            .file(path: folder.file("log")), level: level, format: format, clock: self.clock)
        body(log)
        #expect(log.stop(within: .seconds(20)))
        return try folder.lines("log")
    }

    @Test("writes typed values")
    func values() throws {
        let lines = try self.lines { log in
            log.warning(
                "provider trouble",
                [
                    .identifier("provider", ProviderName("main \"one\"\n")), .label("code", ErrorCode.providerTimeout),
                    .int("attempts", -3), .double("share", 0.5), .double("odd", .nan), .bool("open", true),
                    .duration("after", .microseconds(1500)), .request(RequestID(high: 0, low: 1)),
                    .constant("why", "slow"), .configuration("file", "config/a.yaml"),
                ])
        }
        let line = try members(try #require(lines.first))
        #expect(line["time"] as? String == "2027-01-15T08:00:00.000Z")
        #expect(line["level"] as? String == "warning")
        #expect(line["message"] as? String == "provider trouble")
        #expect(line["provider"] as? String == "main \"one\"\n")
        #expect(line["code"] as? String == "provider_timeout")
        #expect(line["attempts"] as? Double == -3)
        #expect(line["share"] as? Double == 0.5)
        #expect(line["odd"] as? String == "null")
        #expect(line["open"] as? Double == 1)
        #expect(line["after"] as? Double == 1.5)
        #expect(line["request_id"] as? String == "00000000000000000000000000000001")
        #expect(line["why"] as? String == "slow")
        #expect(line["file"] as? String == "config/a.yaml")
    }

    @Test("can be read by people too")
    func textFormat() throws {
        let lines = try self.lines(format: .text) {
            $0.error("start failed", [.configuration("file", "a b\nc"), .int("line", 7)])
        }
        #expect(lines == [#"2027-01-15T08:00:00.000Z error start failed file="a b\u000ac" line=7"#])
    }

    @Test("leaves out what is below its level")
    func levels() throws {
        let lines = try self.lines(level: .warning) { log in
            log.debug("one")
            log.info("two")
            log.warning("three")
            log.error("four")
        }
        #expect(try lines.map { try members($0)["message"] as? String } == ["three", "four"])
    }

    @Test("holds a storm of one message back and says how much, and lets others through")
    func storm() throws {
        let lines = try self.lines { log in
            for number in 0..<5000 { log.warning("storm", [.int("number", number)]) }
            log.info("another")
            self.clock.advance(by: .seconds(3))
            log.warning("storm", [.int("number", 5000)])
            log.warning("storm", [.int("number", 5001)])
        }
        let parsed = try lines.map { try members($0) }
        #expect(parsed.count == 22)
        #expect(parsed[20]["message"] as? String == "another")
        #expect(parsed[21]["number"] as? Double == 5000)
        #expect(parsed[21]["suppressed"] as? Double == 4980)
        #expect(parsed[20]["suppressed"] == nil)
    }

    @Test("lets a message through again after a rest, no more than at first")
    func refill() throws {
        let lines = try self.lines { log in
            for _ in 0..<20 { log.info("again") }
            self.clock.advance(by: .seconds(86_400))
            for _ in 0..<40 { log.info("again") }
        }
        #expect(lines.count == 40)
    }

    @Test("cuts what the configuration says")
    func longText() throws {
        let lines = try self.lines { $0.info("reload", [.configuration("why", String(repeating: "y", count: 5000))]) }
        #expect(try members(try #require(lines.first))["why"] as? String == String(repeating: "y", count: 1024))
    }
}
