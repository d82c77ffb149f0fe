import GatewayTesting
import GatewayTypes
import Glibc
import JSON
import Testing

/// llama.cpp's own server with a small real model, behind the gateway.
@Suite(
    "A real model", .oneOfFewThreads, .serialized,
    .enabled(
        if: LlamaServer.isInstalled || getenv("CI") != nil, "needs the Python environment of Scripts/setup --tests"))
struct RealModelTests {
    private static let text =
        "The northern plant shipped 4,120 units in May, nine percent over plan, while the southern plant lost six days to a "
        + "failed press. Spare parts are due on 12 June, and overtime is approved until the backlog of 640 units ends."

    /// Two cores may be busy with other things than a model.
    private static let patience = TimeSpan.seconds(180)
    private static let timeouts = "{connect: 10s, first_byte: 120s, idle: 120s, total: 170s}"

    @Test func `Every task is answered, plain and streamed, and charged as the model's server reports`() throws {
        let model = try LlamaServer()
        var settings = GatewaySettings()
        settings.providerURL = model.baseURL
        settings.providerTimeouts = Self.timeouts
        // A small model talks on to its cap: a small one keeps the test short.
        settings.tasks = ["summarize", "rewrite", "key-points", "titles"].map {
            "\($0)-brief: {builtin: \($0), max_output_tokens: 24, routes: [{provider: main, model: smollm2}]}"
        }
        let gateway = try TestGateway(settings)
        for task in ["summarize-brief", "rewrite-brief", "key-points-brief", "titles-brief"] {
            var inputs: Set<Int> = []
            for stream in [false, true] {
                let caller = Caller()
                let answer = try gateway.ask(
                    Ask(text: Self.text, task: task, stream: stream), as: caller,
                    on: gateway.client(limit: Self.patience))
                try #require(answer.status == 200, "\(task): \(answer.response.text)")
                if stream { answer.checkStream() }
                #expect(!answer.text.isEmpty)
                let input = try #require(answer.usage?["inputTokens"]?.int)
                let output = try #require(answer.usage?["outputTokens"]?.int)
                #expect((1...24).contains(output))
                #expect(answer.totalTokens == input + output)
                #expect(try gateway.charged(to: caller) == input + output)
                let record = try #require(gateway.process.record(of: answer.requestID))
                #expect(record["input_tokens"]?.int == input)
                #expect(record["output_tokens"]?.int == output)
                #expect(record["usage_source"]?.string == "provider")
                inputs.insert(input)
            }
            // The same prompt has the same tokens, whichever way the answer comes.
            #expect(inputs.count == 1)
        }
    }

    @Test func `A stream that is cut stops the model`() throws {
        let model = try LlamaServer()
        var settings = GatewaySettings()
        settings.providerURL = model.baseURL
        settings.providerTimeouts = Self.timeouts
        let gateway = try TestGateway(settings)
        let caller = Caller("conc-1")
        let client = try gateway.client(limit: Self.patience)
        #expect(try gateway.begin(Ask(text: Self.text, stream: true), as: caller, on: client).status == 200)
        for _ in 0..<5 { _ = try client.event() }
        client.close()
        #expect(try gateway.isIdle(caller))
        #expect(try gateway.charged(to: caller) > 20)
        // The server has both its slots again: two answers at once come through.
        let statuses = OwnThread.together(2) { _ -> Int in
            guard let client = try? gateway.client(limit: Self.patience) else { return 0 }
            return (try? gateway.ask(Ask(text: Self.text, task: "tiny"), as: Caller(), on: client))?.status ?? 0
        }
        #expect(statuses == [200, 200])
    }
}
