import GatewayTypes
import Routing
import Testing

@testable import Gateway

@Suite("Bodies of chat completions")
struct ChatCommandTests {
    private static let user = #"{"role":"user","content":"Hello there"}"#

    private func command(_ body: String) throws(AskFailure) -> AskCommand {
        try WireForm.chat.command(parsing: Array(body.utf8), limit: 65_536)
    }

    private func command(messages: String, more: String = "") throws(AskFailure) -> AskCommand {
        try self.command(#"{"model":"answer","messages":[\#(messages)]\#(more)}"#)
    }

    private func failure(_ body: String) -> AskFailure? {
        do throws(AskFailure) {
            _ = try self.command(body)
            return nil
        } catch { return error }
    }

    private func text(of command: AskCommand) -> String? {
        command.withNames { _, text, _ in text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(arguments: [
        (#"{"role":"user","content":"one"}"#, "one"),
        (#"{"content":[{"type":"text","text":"one"}],"role":"user"}"#, "one"),
        (
            #"{"role":"user","name":"x","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
            "one\ntwo"
        ),
        (#"{"role":"user","content":[]}"#, ""), (#"{"role":"user","content":""}"#, ""),
    ])
    func `The last message is the text`(message: String, expected: String) throws {
        #expect(self.text(of: try self.command(messages: message)) == expected)
    }

    @Test func `Earlier messages are the conversation, each with its role`() throws {
        let command = try self.command(
            messages:
                #"{"role":"system","content":"S"},{"role":"developer","content":"D"},{"role":"user","content":"U"},"#
                + #"{"role":"assistant","content":[{"type":"text","text":"A"},{"type":"refusal","refusal":"R"}]},"#
                + Self.user)
        let history = try #require(command.chat).history
        #expect(history.map(\.role) == [.system, .system, .user, .assistant])
        #expect(history.map { String(decoding: $0.text, as: UTF8.self) } == ["S", "D", "U", "A\nR"])
    }

    @Test func `What may be decided is read, the smaller cap of two wins`() throws {
        let command = try self.command(
            messages: Self.user,
            more: #","max_tokens":50,"max_completion_tokens":40,"temperature":0.25,"stop":["a","b"],"stream":true,"#
                + #""stream_options":{"include_usage":true},"n":1,"tools":[],"response_format":{"type":"text"},"#
                + #""logprobs":false,"user":"u","seed":7,"metadata":{"a":"b"},"api_base":"http://elsewhere","top_p":0.1"#
        )
        let chat = try #require(command.chat)
        #expect(chat.outputCap == 40)
        #expect(chat.temperature == 0.25)
        #expect(chat.stop.map { String(decoding: $0, as: UTF8.self) } == ["a", "b"])
        #expect(command.streams == true && command.reportsUsage)
    }

    @Test func `Null is the same as nothing said`() throws {
        let command = try self.command(
            messages: Self.user,
            more: #","max_tokens":null,"temperature":null,"stop":null,"stream":null,"stream_options":null,"n":null,"#
                + #""tools":null,"response_format":null,"logprobs":null,"modalities":null,"audio":null"#)
        #expect(command.chat?.outputCap == nil && command.chat?.stop.isEmpty == true && command.streams == nil)
    }

    @Test(
        arguments: [
            (#""max_tokens":0"#, "max_tokens"), (#""max_tokens":-5"#, "max_tokens"), (#""max_tokens":"9"#, nil),
            (#""max_tokens":"9""#, "max_tokens"), (#""max_tokens":1.5"#, "max_tokens"),
            (#""max_completion_tokens":18446744073709551616"#, "max_completion_tokens"),
            (#""temperature":2.1"#, "temperature"), (#""temperature":-1"#, "temperature"),
            (#""temperature":true"#, "temperature"), (#""stop":""#, nil), (#""stop":"""#, "stop"),
            (#""stop":[""]"#, "stop"),
            (#""stop":["a","b","c","d","e"]"#, "stop"), (#""stop":[1]"#, "stop"), (#""stop":{}"#, "stop"),
            (#""n":2"#, "n"), (#""n":0"#, "n"), (#""n":"1""#, "n"), (#""stream":"yes""#, "stream"),
            (#""stream_options":true"#, "stream_options"), (#""stream_options":{"include_usage":1}"#, "include_usage"),
            (#""tools":[{"type":"function"}]"#, "tools"), (#""functions":[{"name":"f"}]"#, "functions"),
            (#""response_format":{"type":"json_object"}"#, "response_format"),
            (#""response_format":7"#, "response_format"),
            (#""logprobs":true"#, "logprobs"), (#""top_logprobs":3"#, "logprobs"),
            (#""modalities":["audio"]"#, "modalities"),
            (#""audio":{"voice":"v"}"#, "audio"), (#""web_search_options":{}"#, "web_search_options"),
        ] as [(String, String?)])
    func `What cannot be honoured is refused by its name`(member: String, parameter: String?) {
        let failure = self.failure(#"{"model":"answer","messages":[\#(Self.user)],\#(member)}"#)
        #expect(failure?.code == .invalidRequest)
        #expect(failure?.parameter == parameter)
    }

    @Test(arguments: [
        ("", "messages"), (#"7"#, "messages[0]"), (#"{"content":"x"}"#, "messages[0].role"),
        (#"{"role":"tool","content":"x"}"#, "messages[0].role"),
        (#"{"role":"User","content":"x"}"#, "messages[0].role"),
        (#"{"role":"user"}"#, "messages[0].content"), (#"{"role":"user","content":null}"#, "messages[0].content"),
        (#"{"role":"user","content":{"text":"x"}}"#, "messages[0].content"),
        (#"{"role":"user","content":["x"]}"#, "messages[0].content"),
        (#"{"role":"user","content":[{"type":"text"}]}"#, "messages[0].content"),
        (
            #"{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://169.254.169.254/"}}]}"#,
            "messages[0].content"
        ),
        (#"{"role":"user","content":"x"},{"role":"assistant","content":"y"}"#, "messages[1]"),
        (#"{"role":"system","content":"x"}"#, "messages[0]"),
        (
            #"{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"1"}]},"# + user,
            "messages[1].tool_calls"
        ),
    ])
    func `A message that cannot be read is refused by its place`(messages: String, parameter: String) {
        let failure = self.failure(#"{"model":"answer","messages":[\#(messages)]}"#)
        #expect(failure?.code == .invalidRequest)
        #expect(failure?.parameter == parameter)
    }

    @Test(arguments: ["[]", "null", "", "{", #"{"messages":[]}"#, #"{"model":7,"messages":[]}"#, #"{"model":"a"}"#])
    func `A body that is no chat completion is refused`(body: String) {
        #expect(self.failure(body)?.code == .invalidRequest)
    }

    @Test func `No failure repeats what the client wrote`() {
        let secret = "canary-7f3"
        for body in [
            #"{"model":"answer","messages":[{"role":"\#(secret)","content":"\#(secret)"}]}"#,
            #"{"model":"answer","messages":[{"role":"user","content":[{"type":"\#(secret)"}]}]}"#,
            #"{"model":"answer","messages":[\#(Self.user)],"stop":[7,"\#(secret)"],"\#(secret)":1}"#,
        ] {
            var bytes: [UInt8] = []
            self.failure(body)?.answer.appendBody(to: &bytes, format: .openAI, language: .english, requestID: .random())
            #expect(!bytes.isEmpty && !String(decoding: bytes, as: UTF8.self).contains(secret))
        }
    }
}
