import GatewayTypes
import JSON

/// Writes the body of a chat completion call, from nothing but what the server decided.
enum OpenAIRequest {
    static func body(for request: AskRequest, options: Provider.CallOptions) -> [UInt8] {
        var storage: [UInt8] = []
        storage.reserveCapacity(request.prompt.system.count + request.prompt.user.count + 256)
        var json = JSONWriter(appendingTo: storage)
        json.beginObject()
        json.name("model")
        json.string(request.model.string)
        json.name("messages")
        json.beginArray()
        if !request.prompt.system.isEmpty { self.message("system", request.prompt.system, to: &json) }
        self.message("user", request.prompt.user, to: &json)
        json.endArray()
        if options.sendsTemperature {
            json.name("temperature")
            json.number(request.temperature)
        }
        switch options.outputCapMember {
        case .maxTokens: json.name("max_tokens")
        case .maxCompletionTokens: json.name("max_completion_tokens")
        }
        json.integer(request.outputCap)
        if request.streams {
            json.name("stream")
            json.bool(true)
            if options.asksForUsage { self.streamOptions(to: &json) }
        }
        json.endObject()
        return json.bytes
    }

    private static func message(_ role: StaticString, _ content: [UInt8], to json: inout JSONWriter) {
        json.beginObject()
        json.name("role")
        json.string(role.description)
        json.name("content")
        json.string(utf8: content)
        json.endObject()
    }

    /// Without it most servers report no usage on streams.
    private static func streamOptions(to json: inout JSONWriter) {
        json.name("stream_options")
        json.beginObject()
        json.name("include_usage")
        json.bool(true)
        json.endObject()
    }
}
