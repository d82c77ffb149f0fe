import GatewayTypes
import JSON

/// Writes the body of a messages call, from nothing but what the server decided.
enum AnthropicRequest {
    static func body(for request: AskRequest, options: Provider.CallOptions) -> [UInt8] {
        var storage: [UInt8] = []
        storage.reserveCapacity(request.prompt.system.count + request.prompt.user.count + 256)
        var json = JSONWriter(appendingTo: storage)
        json.beginObject()
        json.name("model")
        json.string(request.model.string)
        // The one member of the three dialects that may not be left out.
        json.name("max_tokens")
        json.integer(max(1, request.outputCap))
        if !request.prompt.system.isEmpty {
            json.name("system")
            json.string(utf8: request.prompt.system)
        }
        json.name("messages")
        json.beginArray()
        json.beginObject()
        json.name("role")
        json.string("user")
        json.name("content")
        json.string(utf8: request.prompt.user)
        json.endObject()
        json.endArray()
        if options.sendsTemperature {
            // Here the scale ends at 1; more is refused.
            json.name("temperature")
            json.number(min(1, request.temperature))
        }
        if request.streams {
            json.name("stream")
            json.bool(true)
        }
        json.endObject()
        return json.bytes
    }
}
