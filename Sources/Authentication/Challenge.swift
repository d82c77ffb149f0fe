package import GatewayTypes

/// What a refused caller is told about credentials (RFC 6750 §3). All texts are constant: the cause of a bad token is
/// not the caller's to know.
package enum Challenge: Hashable, Sendable {
    /// There were no credentials; 401 without an error code.
    case none
    /// 401.
    case invalidToken
    /// 400.
    case invalidRequest
    /// 403; the scope is one of the configuration.
    case insufficientScope(ByteString)
    /// 503: the token could not be judged, which is not the caller's fault.
    case unavailable
    /// 429: the caller has to wait before another token is looked at.
    case heldUp

    /// The status of the answer.
    package var status: Int {
        switch self {
        case .none, .invalidToken: 401
        case .invalidRequest: 400
        case .insufficientScope: 403
        case .unavailable: 503
        case .heldUp: 429
        }
    }

    /// The value of `WWW-Authenticate`; nil where there is nothing to challenge.
    ///
    /// - Parameter realm: without quotes and backslashes.
    package func headerValue(realm: String = "askgate") -> String? {
        let realm = "Bearer realm=\"\(realm)\""
        switch self {
        case .none: return realm
        case .invalidToken:
            return realm + ", error=\"invalid_token\", error_description=\"the access token is not valid\""
        case .invalidRequest:
            return realm + ", error=\"invalid_request\", error_description=\"send one access token, in one header\""
        case .insufficientScope(let scope):
            return realm + ", error=\"insufficient_scope\", scope=\"\(scope.string)\""
        case .unavailable, .heldUp: return nil
        }
    }
}
