/// What the head of an answer tells.
package struct UpstreamHead: Sendable {
    package var status: Int
    /// The media type as sent, lower case, at most 100 bytes; empty when absent.
    package var contentType: String
    /// Whether the body claims to be JSON; a head without a media type claims nothing and is let through.
    package var isJSON: Bool {
        var found = 0
        let wanted: StaticString = "json"
        guard !self.contentType.isEmpty else { return true }
        for byte in self.contentType.utf8 {
            found = byte == wanted.utf8Start[found] ? found + 1 : byte == wanted.utf8Start[0] ? 1 : 0
            if found == wanted.utf8CodeUnitCount { return true }
        }
        return false
    }

    /// The wait that `Retry-After` asks for, in whole seconds, 30 at most; nil when absent or unreadable.
    package var retryAfterSeconds: Int?
    /// What the endpoint wanted besides, by lower-case name; several fields of one name joined by commas.
    package var fields: [String: String] = [:]

    package init(status: Int, contentType: String, retryAfterSeconds: Int? = nil) {
        self.status = status
        self.contentType = contentType
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// Told what becomes of a call, in order: at most one head, bytes, exactly one end. On the loop.
package protocol UpstreamReceiver: AnyObject {
    func upstreamAnswered(_ head: UpstreamHead)
    /// Bytes of the body, lent for the length of the call. False gives the call up.
    func upstreamReceived(_ bytes: UnsafeRawBufferPointer) -> Bool
    /// Nil when the answer came whole.
    func upstreamEnded(_ failure: HTTPClientFailure?)
}
