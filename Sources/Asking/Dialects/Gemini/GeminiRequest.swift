import GatewayTypes
import JSON

/// Writes the body of a generateContent call, from nothing but what the server decided. The model stands in the
/// address.
enum GeminiRequest {
    static func body(for request: AskRequest, options: Provider.CallOptions) -> [UInt8] {
        var storage: [UInt8] = []
        storage.reserveCapacity(request.prompt.system.count + request.prompt.user.count + 256)
        var json = JSONWriter(appendingTo: storage)
        json.beginObject()
        if !request.prompt.system.isEmpty {
            json.name("systemInstruction")
            json.beginObject()
            self.parts(request.prompt.system, to: &json)
            json.endObject()
        }
        json.name("contents")
        json.beginArray()
        json.beginObject()
        json.name("role")
        json.string("user")
        self.parts(request.prompt.user, to: &json)
        json.endObject()
        json.endArray()
        json.name("generationConfig")
        json.beginObject()
        if options.sendsTemperature {
            json.name("temperature")
            json.number(request.temperature)
        }
        json.name("maxOutputTokens")
        json.integer(max(1, request.outputCap))
        json.endObject()
        json.endObject()
        return json.bytes
    }

    private static func parts(_ text: [UInt8], to json: inout JSONWriter) {
        json.name("parts")
        json.beginArray()
        json.beginObject()
        json.name("text")
        json.string(utf8: text)
        json.endObject()
        json.endArray()
    }
}
