import HTTPClient

/// What a dialect makes of a request: where it goes, what is sent, who reads the answer.
struct DialectCall {
    let endpoint: UpstreamEndpoint
    let body: [UInt8]
    let decoder: any AnswerDecoder

    private init<Reader: AnswerReader>(
        _ request: AskRequest, to endpoints: Endpoints, body: [UInt8], reader: Reader.Type
    ) {
        self.endpoint = endpoints.endpoint(for: request.model, streams: request.streams)
        self.body = body
        self.decoder = request.streams ? StreamDecoder<Reader>() : WholeAnswerDecoder<Reader>()
    }

    static func openAI(_ request: AskRequest, _ endpoints: Endpoints, _ options: Provider.CallOptions) -> Self {
        let body = OpenAIRequest.body(for: request, options: options)
        return Self(request, to: endpoints, body: body, reader: OpenAIReader.self)
    }

    static func anthropic(_ request: AskRequest, _ endpoints: Endpoints, _ options: Provider.CallOptions) -> Self {
        let body = AnthropicRequest.body(for: request, options: options)
        return Self(request, to: endpoints, body: body, reader: AnthropicReader.self)
    }

    static func gemini(_ request: AskRequest, _ endpoints: Endpoints, _ options: Provider.CallOptions) -> Self {
        let body = GeminiRequest.body(for: request, options: options)
        return Self(request, to: endpoints, body: body, reader: GeminiReader.self)
    }
}
