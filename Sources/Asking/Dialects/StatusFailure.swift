import GatewayTypes
import HTTPClient

extension ProviderFailure {
    /// The failure that a head's status means; nil for 200.
    init?(_ head: UpstreamHead) { self.init(status: head.status, retryAfterSeconds: head.retryAfterSeconds) }

    /// The failure that a status means; nil for 200.
    init?(status: Int, retryAfterSeconds wait: Int?) {
        switch status {
        case 200: return nil
        case 401, 402, 403: self = .credentialsRefused
        case 408, 504: self = .totalTimeout
        case 429: self = .rateLimited(retryAfterSeconds: wait)
        case 503, 529: self = .overloaded(retryAfterSeconds: wait)
        case 500...: self = .serverError
        case 404, 405, 410: self = .notOffered
        case 413: self = .contextTooLong
        case 400..<500: self = .requestRefused
        default: self = .unusableAnswer
        }
    }

    /// The failure that an error object means by its number; nil when that tells nothing beyond that it failed.
    init?(errorNumber number: Int, retryAfterSeconds wait: Int?) {
        guard let failure = Self(status: number, retryAfterSeconds: wait) else { return nil }
        if failure == .serverError || failure == .unusableAnswer { return nil }
        self = failure
    }
}
