package import GatewayTypes
import HTTPCodec
import JSON

extension ErrorAnswer {
    /// Appends the body.
    ///
    /// The body of a 401 is the same whatever was wrong with the credential, to the byte: even the request's
    /// identifier stands in the head alone.
    package func appendBody(
        to output: inout [UInt8], format: AnswerFormat, language: Language, requestID: RequestID
    ) {
        JSONWriter.append(to: &output) { writer in
            switch format {
            case .own: self.writeProblem(to: &writer, language, requestID)
            case .openAI: self.writeOpenAIError(to: &writer, language)
            }
        }
    }

    /// Appends the event that ends a stream which has begun: an `error` event on our own routes, and on OpenAI's a
    /// data event with the error object, after which no `[DONE]` may come.
    package func appendEvent(
        to output: inout [UInt8], format: AnswerFormat, language: Language, questionID: RequestID
    ) {
        let event = EventWriter.open(format == .own ? "error" : nil, in: &output)
        JSONWriter.append(to: &output) { writer in
            guard format == .own else { return self.writeOpenAIError(to: &writer, language) }
            writer.beginObject()
            writer.name("questionId")
            writer.identifier(questionID)
            writer.name("code")
            writer.string(self.name(in: format))
            writer.name("message")
            writer.string(self.message(in: language))
            writer.endObject()
        }
        EventWriter.close(event, in: &output)
    }

    private func writeProblem(to writer: inout JSONWriter, _ language: Language, _ requestID: RequestID) {
        let status = self.status(in: .own)
        writer.beginObject()
        writer.name("type")
        writer.constant(self.limits.isEmpty ? "about:blank" : quotaExceeded)
        writer.name("title")
        writer.constant(status == 429 ? "Quota Exceeded" : ReasonPhrase.of(status))
        writer.name("status")
        writer.integer(status)
        writer.name("detail")
        if let detail = self.detail {
            writer.string(detail)
        } else if self.allowsNone {
            writer.constant("The limit is 0: it lets nothing pass, now or later.")
        } else {
            writer.constant(self.code.face.detail)
        }
        writer.name("code")
        writer.string(self.name(in: .own))
        writer.name("message")
        writer.string(self.message(in: language))
        if status != 401 {
            writer.name("requestId")
            writer.identifier(requestID)
        }
        self.writeLimits(to: &writer)
        writer.endObject()
    }

    private func writeLimits(to writer: inout JSONWriter) {
        guard let first = self.limits.first else { return }
        writer.name("limit")
        writer.beginObject()
        writer.name("name")
        writer.string(first.limit.kind.rawValue)
        writer.name("scope")
        writer.string(first.limit.scope.rawValue)
        writer.name("limit")
        writer.integer(first.limit.quantity)
        writer.name("remaining")
        writer.integer(max(first.remaining, 0))
        writer.name("resetSeconds")
        writer.integer(max(first.resetSeconds, 0))
        self.dayTurn?.append(first, to: &writer)
        writer.endObject()
        writer.name("violated-policies")
        writer.beginArray()
        for state in self.limits { writer.constant(LimitHeaders.policyName(state.limit)) }
        writer.endArray()
    }

    private func writeOpenAIError(to writer: inout JSONWriter, _ language: Language) {
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.name("message")
        writer.string(self.openAIMessage(in: language))
        writer.name("type")
        writer.constant(openAIType(of: self.status(in: .openAI)))
        writer.name("param")
        switch self.code {
        case .unknownTask, .modelNotSelectable, .taskNotInPlan: writer.string("model")
        case .textTooShort, .textTooLong: writer.string("messages")
        default: if let parameter = self.parameter { writer.string(parameter) } else { writer.null() }
        }
        writer.name("code")
        writer.string(self.name(in: .openAI))
        writer.endObject()
        writer.endObject()
    }
}

/// Registered for 429 by the RateLimit fields' draft, with the member `violated-policies`.
private let quotaExceeded: StaticString = "https://iana.org/assignments/http-problem-types#quota-exceeded"

/// What OpenAI calls errors of this status.
private func openAIType(of status: Int) -> StaticString {
    switch status {
    case 401: "authentication_error"
    case 403: "permission_error"
    case 429: "rate_limit_error"
    case 500...599: "server_error"
    default: "invalid_request_error"
    }
}

extension JSONWriter {
    /// Writes a constant as a string.
    mutating func constant(_ text: StaticString) { text.withUTF8Buffer { self.string(utf8: $0) } }

    /// Writes an identifier as a string.
    mutating func identifier(_ request: RequestID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: RequestID.textLength) { places in
            var digits = OutputSpan(buffer: places, initializedCount: 0)
            request.append(to: &digits)
            _ = digits.finalize(for: places)
            self.string(utf8: UnsafeBufferPointer(places))
        }
    }
}
