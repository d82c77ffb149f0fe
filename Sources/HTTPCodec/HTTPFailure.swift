/// Why a message of a peer is refused. Every case means: answer with `status`, then close; never read on.
package enum HTTPFailure: String, Error, Sendable, CaseIterable {
    case malformedRequestLine = "malformed_request_line"
    /// Of an answer.
    case malformedStatusLine = "malformed_status_line"
    /// A fragment, backslash, control or non-ASCII byte in the target, or a form that does not fit the method.
    case invalidTarget = "invalid_target"
    /// CR or LF alone: two readers may see two different messages.
    case bareLineEnd = "bare_line_end"
    /// A field name that is no token, or space before its colon.
    case invalidFieldName = "invalid_field_name"
    /// A control byte in a value.
    case invalidFieldValue = "invalid_field_value"
    /// A line that goes on after white space (`obs-fold`).
    case obsoleteFolding = "obsolete_folding"
    case hostMissing = "host_missing"
    /// Not a host, said twice, or another one than the absolute target names.
    case hostInvalid = "host_invalid"
    /// Both `Transfer-Encoding` and `Content-Length`.
    case conflictingFraming = "conflicting_framing"
    case invalidContentLength = "invalid_content_length"
    case invalidTransferEncoding = "invalid_transfer_encoding"
    case invalidChunkSize = "invalid_chunk_size"
    case invalidChunkExtension = "invalid_chunk_extension"
    case chunkExtensionsTooLarge = "chunk_extensions_too_large"
    /// Chunk data that is not followed by CR LF.
    case invalidChunkEnd = "invalid_chunk_end"
    case invalidTrailer = "invalid_trailer"
    case bodyTooLarge = "body_too_large"
    case targetTooLong = "target_too_long"
    case expectationFailed = "expectation_failed"
    case headTooLarge = "head_too_large"
    case tooManyFields = "too_many_fields"
    case fieldTooLarge = "field_too_large"
    case trailersTooLarge = "trailers_too_large"
    /// `CONNECT`, or a method longer than any that exists.
    case methodNotImplemented = "method_not_implemented"
    /// A transfer coding before `chunked` that we do not speak.
    case unsupportedTransferCoding = "unsupported_transfer_coding"
    case unsupportedVersion = "unsupported_version"

    /// The status to answer with.
    package var status: Int {
        switch self {
        case .malformedRequestLine, .invalidTarget, .bareLineEnd, .invalidFieldName, .invalidFieldValue,
            .obsoleteFolding, .hostMissing, .hostInvalid, .conflictingFraming, .invalidContentLength,
            .invalidTransferEncoding, .invalidChunkSize, .invalidChunkExtension, .chunkExtensionsTooLarge,
            .invalidChunkEnd, .invalidTrailer:
            400
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .expectationFailed: 417
        case .headTooLarge, .tooManyFields, .fieldTooLarge, .trailersTooLarge: 431
        case .methodNotImplemented, .unsupportedTransferCoding: 501
        case .malformedStatusLine: 502
        case .unsupportedVersion: 505
        }
    }

    /// A bounded name for metrics; nothing a peer wrote.
    package var metricLabel: String { self.rawValue }
}
