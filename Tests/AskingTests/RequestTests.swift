import GatewayTesting
import GatewayTypes
import JSON
import Testing

@testable import Asking

@Suite("What a provider is sent")
struct RequestTests {
    private func body(_ request: AskRequest, asksForUsage: Bool = true) -> String {
        let options = Provider.CallOptions(asksForUsage: asksForUsage)
        return String(decoding: OpenAIRequest.body(for: request, options: options), as: UTF8.self)
    }

    @Test func `A plain call holds what the server decided and nothing else`() {
        #expect(
            self.body(.sample("Hi", cap: 42, stream: false))
                == #"{"model":"m-small","messages":[{"role":"system","content":"Be brief."},"#
                + #"{"role":"user","content":"Hi"}],"temperature":0.5,"max_tokens":42}"#)
    }

    @Test func `A streamed call asks for usage where that is understood`() {
        let start =
            #"{"model":"m-small","messages":[{"role":"system","content":"Be brief."},"#
            + #"{"role":"user","content":"Hi"}],"temperature":0.5,"max_tokens":100,"stream":true"#
        #expect(self.body(.sample("Hi")) == start + #","stream_options":{"include_usage":true}}"#)
        #expect(self.body(.sample("Hi"), asksForUsage: false) == start + "}")
    }

    @Test func `Text cannot leave its place`() throws {
        let text = "\"}],\"model\":\"other\"\\ \u{0} \u{1F} \u{7F} \u{2028} سلام 👩‍👩‍👧 \r\n\t"
        let root = try JSONDocument(parsing: Array(self.body(.sample(text)).utf8)).root
        #expect(root["model"]?.string == "m-small")
        #expect(root["messages"]?.count == 2)
        #expect(root["messages"]?[0]?["content"]?.string == "Be brief.")
        #expect(root["messages"]?[1]?["content"]?.string == text)
    }

    @Test func `Nothing is asked for twice`() {
        let body = self.body(.sample("x"))
        for name in ["model", "messages", "temperature", "max_tokens", "stream", "stream_options"] {
            #expect(body.ranges(of: "\"\(name)\":").count == 1)
        }
    }
}
