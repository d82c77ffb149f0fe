import HTTPCodec

/// The data plane's routes.
enum Route: CaseIterable {
    case health
    case process
    case quota
    case guestSessions
    case guestClaim

    init?(_ head: HTTPRequestHead) {
        guard let route = Self.allCases.first(where: { head.pathIs($0.template) }) else { return nil }
        self = route
    }

    /// Its place among all routes.
    var index: Int {
        switch self {
        case .health: 0
        case .process: 1
        case .quota: 2
        case .guestSessions: 3
        case .guestClaim: 4
        }
    }

    /// The path; no route has parameters yet.
    var template: StaticString {
        switch self {
        case .health: "/api/health"
        case .process: "/api/process"
        case .quota: "/v1/quota"
        case .guestSessions: "/v1/guest-sessions"
        case .guestClaim: "/v1/guest-sessions/claim"
        }
    }

    func takes(_ method: HTTPMethod) -> Bool {
        switch self {
        case .health: method == .get || method == .head
        case .process, .guestSessions, .guestClaim: method == .post
        case .quota: method == .get
        }
    }

    /// The value of `Allow`.
    var allowed: StaticString {
        switch self {
        case .health: "GET, HEAD"
        case .process, .guestSessions, .guestClaim: "POST"
        case .quota: "GET"
        }
    }
}
