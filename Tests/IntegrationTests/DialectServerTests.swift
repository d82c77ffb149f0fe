import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// Servers that others wrote after the vendors' documents, behind the gateway.
@Suite(
    "Dialects against the servers of others", .oneOfFewThreads, .serialized,
    .enabled(
        if: MockServer.isInstalled || getenv("CI") != nil, "needs the Python environment of Scripts/setup --tests"))
struct DialectServerTests {
    private static let bearer = ", key_in: {header: Authorization, scheme: Bearer}"

    @Test func `An echo comes back in every dialect, plain and streamed, and is charged as reported`() throws {
        let server = try MockServer.katan(key: TestGateway.providerKey)
        let gateway = try TestGateway()
        try gateway.serveDialects(at: server.address, geminiMembers: Self.bearer)
        for task in ["openai", "anthropic", "gemini", "azure"] {
            for stream in [false, true] {
                let caller = Caller()
                let answer = try gateway.ask(Ask("Tides rise twice a day.", task: task, stream: stream), as: caller)
                try #require(answer.status == 200, "\(task): \(answer.response.text)")
                if stream { answer.checkStream() }
                #expect(answer.text.contains("echo"), "\(task)")
                let input = try #require(answer.usage?["inputTokens"]?.int)
                let output = try #require(answer.usage?["outputTokens"]?.int)
                #expect(input > 0 && output > 0, "\(task)")
                #expect(try gateway.charged(to: caller) == input + output)
                let record = try #require(gateway.process.record(of: answer.requestID))
                #expect(record["outcome"]?.string == "answered" && record["provider"]?.string == task)
            }
        }
    }

    @Test func `A key that the server does not know is the operator's matter`() throws {
        let server = try MockServer.katan(key: "another-key")
        let gateway = try TestGateway()
        try gateway.serveDialects(at: server.address, geminiMembers: Self.bearer)
        for task in TestDialect.allCases.map(\.rawValue) + ["azure"] {
            for stream in [false, true] {
                let answer = try gateway.ask(Ask("Hello", task: task, stream: stream))
                #expect(answer.status == 502 && answer.code == "provider_failed", "\(task)")
                #expect(!answer.response.text.contains(TestGateway.providerKey))
            }
        }
    }

    @Test func `What a server is told to break is an error in every dialect`() throws {
        let server = try MockServer.llmock()
        let gateway = try TestGateway()
        try gateway.serveDialects(at: server.address, anthropic: "/anthropic", gemini: "/gemini")
        for dialect in TestDialect.allCases {
            let task = dialect.rawValue
            for stream in [false, true] {
                let caller = Caller()
                try server.expect(#"{"type":"reply","text":"Tides rise twice a day."}"#)
                let answer = try gateway.ask(Ask("usual", task: task, stream: stream), as: caller)
                try #require(answer.status == 200, "\(task): \(answer.response.text)")
                #expect(answer.text == "Tides rise twice a day.")
                #expect(try gateway.charged(to: caller) == answer.totalTokens)
                for (status, told) in [(429, 503), (500, 502), (401, 502), (400, 502), (503, 503)] {
                    try server.expect(#"{"type":"fail","status":\#(status),"retry_after":2}"#)
                    let failed = try gateway.ask(Ask("refused", task: task, stream: stream))
                    #expect(failed.status == told, "\(task) \(status)")
                    #expect(told != 503 || failed.response.header("retry-after") == "2", "\(task) \(status)")
                }
            }
            for (kind, code) in [
                ("disconnect", "provider_failed"), ("truncate", "provider_failed"), ("malformed", "provider_failed"),
                ("stall", "provider_timeout"),
            ] {
                let caller = Caller()
                try server.expect(#"{"type":"reply","text":"Tides rise twice a day, and fall."}"#)
                // Some dialects begin with chunks that hold no text.
                try server.expect(#"{"type":"stream_fault","kind":"\#(kind)","after_chunks":5,"stall_seconds":30}"#)
                let broken = try gateway.ask(Ask("broken", task: task, stream: true), as: caller)
                broken.checkStream()
                #expect(broken.code == code && !broken.isFinished, "\(task) \(kind)")
                #expect(try !broken.text.isEmpty && gateway.charged(to: caller) > 0, "\(task) \(kind)")
            }
        }
    }
}
