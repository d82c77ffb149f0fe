import GatewayTypes
import HTTPCodec
import HTTPServer
import JSON
import Quota

/// Why the admin API refuses a request: problem details of RFC 9457.
struct AdminProblem: Error, Sendable {
    enum Code: String, Sendable, CaseIterable, MetricLabel {
        case invalidRequest = "invalid_request"
        case unauthenticated
        case insufficientRole = "insufficient_role"
        case notFound = "not_found"
        case unknownTenant = "unknown_tenant"
        case methodNotAllowed = "method_not_allowed"
        case requestTimeout = "request_timeout"
        case tooMany = "too_many"
        case addressesNotCounted = "addresses_not_counted"
        case versionConflict = "version_conflict"
        case bodyTooLarge = "body_too_large"
        case unsupportedMediaType = "unsupported_media_type"
        case configurationInvalid = "configuration_invalid"
        case headersTooLarge = "headers_too_large"
        case storeUnavailable = "quota_store_unavailable"

        var metricLabel: String { self.rawValue }

        var status: Int {
            switch self {
            case .invalidRequest: 400
            case .unauthenticated: 401
            case .insufficientRole: 403
            case .notFound, .unknownTenant: 404
            case .methodNotAllowed: 405
            case .requestTimeout: 408
            case .tooMany, .addressesNotCounted: 409
            case .versionConflict: 412
            case .bodyTooLarge: 413
            case .unsupportedMediaType: 415
            case .configurationInvalid: 422
            case .headersTooLarge: 431
            case .storeUnavailable: 503
            }
        }
    }

    let code: Code
    let detail: String
    /// The status, where the code's own does not fit.
    var status: Int
    /// The member, parameter or field that is wrong.
    var member: String?
    /// The holder's version, when another was expected.
    var currentVersion: Int?
    /// Lines that say what is wrong with a configuration.
    var problems: [String] = []
    /// The value of `Allow`.
    var allowed: StaticString?
    /// The value of `WWW-Authenticate`.
    var challenge: StaticString?

    init(_ code: Code, _ detail: String, member: String? = nil) {
        self.code = code
        self.detail = detail
        self.status = code.status
        self.member = member
    }

    /// - Parameter changes: whether the request was to change something, which may have happened all the same.
    init(_ failure: QuotaFailure, changes: Bool) {
        let unknown = changes && failure.mayHaveActed
        self.init(
            .storeUnavailable,
            "The quota store does not answer (\(failure.metricLabel))."
                + (unknown ? " Whether the change was made is not known: look before you repeat it." : ""))
    }

    init(_ failure: HTTPServerFailure) {
        switch failure {
        case .bodyTooLarge: self.init(.bodyTooLarge, "The body is larger than 16384 bytes.")
        case .contentCoding: self.init(.unsupportedMediaType, "The body must not be encoded.")
        case .timeout: self.init(.requestTimeout, "The request came too slowly.")
        case .malformed(let reason) where reason.status == 431:
            self.init(.headersTooLarge, "The request's fields are too large.")
        case .clientGone, .malformed: self.init(.invalidRequest, "The request could not be read.")
        }
        self.status = failure.status
    }

    func body(_ request: RequestID) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("type", "about:blank")
        json.member("title", ReasonPhrase.of(self.status).description)
        json.member("status", self.status)
        json.member("code", self.code.rawValue)
        json.member("detail", self.detail)
        json.member("requestId", request.description)
        if let member = self.member { json.member("member", member) }
        if let version = self.currentVersion { json.member("currentVersion", version) }
        if !self.problems.isEmpty {
            json.name("problems")
            json.beginArray()
            for problem in self.problems { json.string(problem) }
            json.endArray()
        }
        json.endObject()
        return json.bytes
    }

    func appendFields(to head: inout [UInt8]) {
        if let allowed = self.allowed { MessageWriter.field("allow", allowed, to: &head) }
        if let challenge = self.challenge { MessageWriter.field("www-authenticate", challenge, to: &head) }
        if self.code == .storeUnavailable { MessageWriter.field("retry-after", 2, to: &head) }
    }
}
