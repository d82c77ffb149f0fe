import HTTPCodec

/// The data plane's routes.
enum Route: CaseIterable {
    case health
    case process
    case quota
    case questions
    case chat
    case models
    case model
    case guestSessions
    case guestClaim
    case question

    /// Made once: each call of `allCases` allocates.
    private static let all = allCases

    init?(_ head: HTTPRequestHead) {
        guard let route = Self.all.first(where: { $0.matches(head) }) else { return nil }
        self = route
    }

    /// Its place among all routes.
    var index: Int {
        switch self {
        case .health: 0
        case .process: 1
        case .quota: 2
        case .questions: 3
        case .chat: 4
        case .models: 5
        case .model: 6
        case .guestSessions: 7
        case .guestClaim: 8
        case .question: 9
        }
    }

    /// The path; what stands in braces is one segment.
    var template: StaticString {
        switch self {
        case .health: "/api/health"
        case .process: "/api/process"
        case .quota: "/v1/quota"
        case .questions: "/v1/questions"
        case .question: "/v1/questions/{id}"
        case .chat: "/v1/chat/completions"
        case .models: "/v1/models"
        case .model: "/v1/models/{id}"
        case .guestSessions: "/v1/guest-sessions"
        case .guestClaim: "/v1/guest-sessions/claim"
        }
    }

    private func matches(_ head: HTTPRequestHead) -> Bool {
        switch self {
        case .model: Self.modelName(in: head) != nil
        case .question: Self.segment(of: head, behind: "/v1/questions/") != nil
        default: head.pathIs(self.template)
        }
    }

    /// Where the name stands in the path of `model`, as it was sent.
    static func modelName(in head: HTTPRequestHead) -> Range<Int>? {
        self.segment(of: head, behind: "/v1/models/")
    }

    /// The one segment that follows in the path, if it does and is the last.
    static func segment(of head: HTTPRequestHead, behind prefix: StaticString) -> Range<Int>? {
        guard let name = head.rest(ofPathAfter: prefix), !name.isEmpty else { return nil }
        return head.withBytes(name) { name in name.indices.allSatisfy { name[$0] != 0x2F } } ? name : nil
    }

    func takes(_ method: HTTPMethod) -> Bool {
        switch self {
        case .health: method == .get || method == .head
        case .process, .questions, .chat, .guestSessions, .guestClaim: method == .post
        case .quota, .models, .model: method == .get
        case .question: method == .get || method == .delete
        }
    }

    /// The value of `Allow`.
    var allowed: StaticString {
        switch self {
        case .health: "GET, HEAD"
        case .process, .questions, .chat, .guestSessions, .guestClaim: "POST"
        case .quota, .models, .model: "GET"
        case .question: "GET, DELETE"
        }
    }

    /// The format of its errors.
    var format: AnswerFormat {
        switch self {
        case .chat, .models, .model: .openAI
        case .health, .process, .quota, .questions, .question, .guestSessions, .guestClaim: .own
        }
    }

    /// The format of errors where there is no route: clients of OpenAI's other routes should understand that too.
    static func format(ofUnknown head: HTTPRequestHead) -> AnswerFormat {
        let families: [StaticString] = [
            "/v1/chat/", "/v1/completions", "/v1/embeddings", "/v1/responses", "/v1/models/", "/v1/audio/",
            "/v1/images/", "/v1/files", "/v1/moderations",
        ]
        let isOpenAI = families.contains { head.rest(ofPathAfter: $0) != nil }
        return isOpenAI ? .openAI : .own
    }
}
