import GatewayTypes
import Testing

@testable import Gateway

@Suite("Error answers")
struct ErrorAnswerTests {
    private let request = RequestID(high: 0x1234, low: 0x5678)

    private func answer(_ code: ErrorCode) -> ErrorAnswer {
        switch code {
        case .requestsPerMinuteExceeded: ErrorAnswer(exceeded: state(.requestsPerMinute, of: 60, reset: 12))
        case .tokensPerDayExceeded: ErrorAnswer(exceeded: state(.tokensPerDay, of: 5000, reset: 40_000))
        case .concurrentRequestsExceeded: ErrorAnswer(exceeded: state(.concurrentRequests, of: 2, reset: 30))
        default: ErrorAnswer(code)
        }
    }

    private func body(
        _ answer: ErrorAnswer, _ format: AnswerFormat = .own, _ language: Language = .english, _ id: RequestID? = nil
    ) -> String {
        var bytes: [UInt8] = []
        answer.appendBody(to: &bytes, format: format, language: language, requestID: id ?? self.request)
        return text(bytes)
    }

    private func head(
        _ answer: ErrorAnswer, _ format: AnswerFormat = .own, challenge: [UInt8]? = nil
    ) throws -> [String: String] {
        try fields { answer.appendFields(to: &$0, format: format, language: .english, challenge: challenge) }
    }

    @Test(
        "give each code its status",
        arguments: [
            (400, [ErrorCode.invalidRequest, .unknownTask, .textTooShort, .modelNotSelectable]),
            (401, [.unauthenticated]),
            (403, [.taskNotInPlan, .subjectBlocked, .insufficientScope]), (404, [.notFound]),
            (405, [.methodNotAllowed]),
            (408, [.requestTimeout]), (413, [.textTooLong, .bodyTooLarge]), (415, [.unsupportedMediaType]),
            (429, [.requestsPerMinuteExceeded, .tokensPerDayExceeded, .concurrentRequestsExceeded]),
            (409, [.guestSessionClaimed, .questionCancelled, .idempotencyInProgress]),
            (410, [.questionGone, .idempotencyFinished]), (422, [.idempotencyMismatch]),
            (431, [.headersTooLarge]), (500, [.internalError]), (502, [.providerFailed, .providerEmptyAnswer]),
            (503, [.providerOverloaded, .quotaStoreUnavailable, .identityUnavailable, .overloaded, .draining]),
            (504, [.providerTimeout]),
        ])
    func statuses(status: Int, codes: [ErrorCode]) {
        for code in codes { #expect(self.answer(code).status(in: .own) == status, "\(code)") }
    }

    @Test("have the members of a problem on our routes", arguments: ErrorCode.allCases)
    func problem(code: ErrorCode) throws {
        let answer = self.answer(code)
        let problem = try object(self.body(answer))
        #expect(problem["status"] as? Int == answer.status(in: .own))
        #expect(problem["code"] as? String == code.rawValue)
        for name in ["type", "title", "detail", "message"] {
            #expect((problem[name] as? String)?.isEmpty == false, "\(name)")
        }
        #expect(problem["requestId"] as? String == (code == .unauthenticated ? nil : self.request.description))
        // A limit that no plan has is nobody's to see.
        let hasLimit = answer.status(in: .own) == 429 && code != .tooManyFailedAuthentications
        #expect((problem["limit"] != nil) == hasLimit)
        #expect(try self.head(answer)["content-type"] == "application/problem+json")
    }

    @Test("say which limit, where it stands, and every policy that was violated")
    func limits() throws {
        let answer = ErrorAnswer(
            exceeded: state(.requestsPerMinute, .tenant, of: 60, remaining: 0, reset: 12),
            others: [state(.concurrentRequests, of: 2)])
        let problem = try object(self.body(answer))
        #expect(problem["type"] as? String == "https://iana.org/assignments/http-problem-types#quota-exceeded")
        #expect(problem["violated-policies"] as? [String] == ["rpm-tenant", "conc"])
        let limit = try #require(problem["limit"] as? [String: Any])
        #expect(limit["name"] as? String == "requests_per_minute")
        #expect(limit["scope"] as? String == "tenant")
        #expect(limit["limit"] as? Int == 60)
        #expect(limit["remaining"] as? Int == 0)
        #expect(limit["resetSeconds"] as? Int == 12)
        #expect(limit.count == 5)
        #expect((problem["message"] as? String)?.contains("12 seconds") == true)
    }

    @Test("answer every bad credential with the same bytes", arguments: AnswerFormat.allCases)
    func sameBytes(format: AnswerFormat) {
        let bodies = Set((0..<10).map { _ in self.body(ErrorAnswer(.unauthenticated), format, .english, .random()) })
        #expect(bodies.count == 1)
    }

    @Test("are OpenAI's object on its routes", arguments: ErrorCode.allCases)
    func openAI(code: ErrorCode) throws {
        let answer = self.answer(code)
        let outer = try object(self.body(answer, .openAI))
        #expect(outer.count == 1)
        let error = try #require(outer["error"] as? [String: Any])
        #expect(error.keys.sorted() == ["code", "message", "param", "type"])
        let type = error["type"] as? String
        switch answer.status(in: .openAI) {
        case 401: #expect(type == "authentication_error")
        case 403: #expect(type == "permission_error")
        case 429: #expect(type == "rate_limit_error")
        case 500...: #expect(type == "server_error")
        default: #expect(type == "invalid_request_error")
        }
        #expect(try self.head(answer, .openAI)["content-type"] == "application/json")
    }

    @Test("have one status, whoever asks for it", arguments: [414, 417, 431, 501, 505])
    func ownStatus(status: Int) throws {
        let answer = ErrorAnswer(.invalidRequest, status: status)
        let body = try object(self.body(answer))
        #expect(answer.status(in: .own) == status && body["status"] as? Int == status)
        #expect(body["title"] as? String != "Bad Request" && body["title"] as? String != "Internal Server Error")
        #expect(body["code"] as? String == "invalid_request")
    }

    @Test("call an unknown task an unknown model on OpenAI routes")
    func unknownModel() throws {
        let answer = ErrorAnswer(.unknownTask)
        #expect(answer.status(in: .openAI) == 404)
        let error = try #require(try object(self.body(answer, .openAI))["error"] as? [String: Any])
        #expect(error["code"] as? String == "model_not_found")
        #expect(error["param"] as? String == "model")
        #expect(error["message"] as? String == "No model has this name; GET /v1/models lists them.")
        #expect(try object(self.body(answer))["code"] as? String == "unknown_task")
    }

    @Test("tell how long to wait exactly with 429, 503 and what is still running", arguments: ErrorCode.allCases)
    func retryAfter(code: ErrorCode) throws {
        for answer in [self.answer(code), ErrorAnswer(code)] {
            let wait = try self.head(answer)["retry-after"]
            guard [429, 503].contains(answer.status(in: .own)) || code == .idempotencyInProgress else {
                #expect(wait == nil)
                continue
            }
            let seconds = try #require(wait)
            #expect((Int(seconds) ?? 0) >= 1)
        }
    }

    @Test(
        "wait as long as the limit needs and no longer",
        arguments: [
            (LimitKind.requestsPerMinute, 12, 12), (.requestsPerMinute, 60, 60), (.requestsPerMinute, 1, 1),
            (.requestsPerMinute, 500, 60), (.requestsPerMinute, 0, 60), (.requestsPerMinute, -4, 60),
            (.tokensPerDay, 10, 10),
            (.tokensPerDay, 82_800, 82_800), (.tokensPerDay, 90_000, 90_000), (.tokensPerDay, .max, 90_000),
            (.concurrentRequests, 0, 1), (.concurrentRequests, 3, 3), (.concurrentRequests, 30, 5),
        ])
    func limitWait(kind: LimitKind, reset: Int, wait: Int) throws {
        let answer = ErrorAnswer(exceeded: state(kind, of: 10, reset: reset))
        #expect(try self.head(answer)["retry-after"] == "\(wait)")
    }

    @Test(
        "take a wait that somebody knows, in whole seconds from 1",
        arguments: [
            (7, "7"), (0, "1"), (-3, "1"), (30, "30"),
        ])
    func knownWait(known: Int, written: String) throws {
        #expect(try self.head(ErrorAnswer(.providerOverloaded, retryAfterSeconds: known))["retry-after"] == written)
    }

    @Test("ask libraries to give up where waiting minutes is pointless")
    func giveUp() throws {
        let hopeless: [ErrorCode] = [.tokensPerDayExceeded, .questionCancelled]
        #expect(try self.head(self.answer(.questionCancelled))["x-should-retry"] == "false")
        #expect(try self.head(self.answer(.tokensPerDayExceeded))["x-should-retry"] == "false")
        #expect(try self.head(ErrorAnswer(exceeded: state(.requestsPerMinute, of: 0)))["x-should-retry"] == "false")
        for code in ErrorCode.allCases where !hopeless.contains(code) {
            #expect(try self.head(self.answer(code))["x-should-retry"] == nil, "\(code)")
        }
    }

    @Test("are never stored, carry the challenge they are given and keep it on its line")
    func otherFields() throws {
        let head = try self.head(
            ErrorAnswer(.unauthenticated), challenge: Array("Bearer realm=\"x\"\r\ninjected: 1".utf8))
        #expect(head["cache-control"] == "no-store")
        #expect(head["content-language"] == "en")
        #expect(head["www-authenticate"] == "Bearer realm=\"x\"  injected: 1")
        #expect(head["injected"] == nil)
    }

    @Test("end a stream that has begun with one event", arguments: ErrorCode.allCases)
    func events(code: ErrorCode) throws {
        var own: [UInt8] = []
        self.answer(code).appendEvent(to: &own, format: .own, language: .korean, questionID: self.request)
        let event = try ReceivedEvent(text(own))
        #expect(event.type == "error")
        #expect(event.data["questionId"] as? String == self.request.description)
        #expect(event.data["code"] as? String == code.rawValue)
        #expect(event.data["message"] as? String == self.answer(code).message(in: .korean))
        #expect(event.data.count == 3)
        var openAI: [UInt8] = []
        self.answer(code).appendEvent(to: &openAI, format: .openAI, language: .english, questionID: self.request)
        let chunk = try ReceivedEvent(text(openAI))
        #expect(chunk.type == "message")
        #expect(chunk.data["error"] is [String: Any])
        #expect(!text(openAI).contains("[DONE]"))
    }
}
