/// How much one request may make us read and keep; whoever sends more is answered and disconnected.
package struct HTTPLimits: Sendable {
    /// Bytes of the request line without its line end (414). RFC 9112 §3 recommends at least 8000.
    package var requestLineBytes = 8192
    /// Bytes of the whole head with its last line end (431).
    package var headBytes = 32768
    /// Field lines of a head (431).
    package var fields = 100
    /// Bytes of one field name (431).
    package var nameBytes = 256
    /// Bytes of one field value (431).
    package var valueBytes = 16384
    /// Bytes of the `Authorization` value (431).
    package var authorizationBytes = 8192
    /// Bytes of chunk extensions, over all chunks of one message (400).
    package var chunkExtensionBytes = 1024
    /// Bytes of the trailer section with its last line end (431).
    package var trailerBytes = 4096
    /// Field lines of the trailer section (431).
    package var trailerFields = 16
    /// Empty lines taken before a request line; RFC 9112 §2.2 asks for at least one.
    package var leadingEmptyLines = 2

    /// The limits of a listener that nobody configured.
    package init() {}
}
