import GatewayTypes
import Testing

@testable import Observability

@Suite("Trace context")
struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    private func parse(_ field: String) -> TraceContext? { TraceContext.parse(Array(field.utf8).span) }

    @Test("reads and writes a field of version 00")
    func roundTrip() throws {
        let field = "00-\(Self.trace)-\(Self.span)-01"
        let context = try #require(self.parse(field))
        #expect(context.traceID.description == Self.trace)
        #expect(context.spanID == 0xb7ad_6b71_6920_3331)
        #expect(context.isSampled)
    }

    @Test("knows the flags it does not keep", arguments: [("00", false), ("01", true), ("02", false), ("ff", true)])
    func flags(flags: String, sampled: Bool) throws {
        #expect(try #require(self.parse("00-\(Self.trace)-\(Self.span)-\(flags)")).isSampled == sampled)
    }

    @Test("reads the known part of higher versions", arguments: ["cc-T-S-01", "01-T-S-00-what-comes", "fe-T-S-01-"])
    func higherVersion(template: String) {
        #expect(self.parse(Self.filled(template)) != nil)
    }

    @Test(
        "ignores what is not well-formed",
        arguments: [
            "", "00", "00-T-S-0", "00-T-S-01-", "00-T-S-011", "00-T-S-01-extra", "ff-T-S-01", "01-T-S-01x",
            "cc-T-S-01.b",
            "0-T-S-01", "00-00000000000000000000000000000000-S-01", "00-T-0000000000000000-01", "00-T-S-0G",
            "0G-T-S-01",
            "00-0AF7651916CD43DD8448EB211C80319C-S-01", "00-T-B7AD6B7169203331-01", "00_T-S-01", "00-T_S-01",
            "00-T-S_01",
            " 00-T-S-01", "00-T-S-01 ", "00-0af7651916cd43dd8448eb211c80319-Sa-01", "00-T-S-é1",
        ])
    func malformed(template: String) { #expect(self.parse(Self.filled(template)) == nil) }

    @Test("has no identifier of nothing but zeros")
    func neverZero() { #expect(TraceID(high: 0, low: 0) == nil) }

    private static func filled(_ template: String) -> String {
        let parts = template.split(separator: "T", omittingEmptySubsequences: false).joined(separator: Self.trace)
        return parts.split(separator: "S", omittingEmptySubsequences: false).joined(separator: Self.span)
    }
}

@Suite("Process hardening")
struct ProcessHardeningTests {
    @Test("leaves no core behind")
    func noCore() async {
        // In a process of its own: what it switches off stays off.
        await #expect(processExitsWith: .success) {
            try ProcessHardening.apply()
            #expect(!ProcessHardening.isDumpable)
        }
    }
}
