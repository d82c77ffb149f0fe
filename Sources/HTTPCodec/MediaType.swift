/// The few questions that the gateway asks about media types (RFC 9110 §8.3, §12.5.1).
package enum MediaType {
    /// Whether a `Content-Type` value names JSON: `application/json` or any `application/…+json`, with any parameters.
    package static func isJSON(_ contentType: Span<UInt8>) -> Bool {
        let essence = self.essence(contentType)
        if ByteComparison.equalsFolded(contentType.extracting(essence), "application/json") { return true }
        guard essence.count > 17 else { return false }
        let prefix = essence.lowerBound..<(essence.lowerBound &+ 12)
        let suffix = (essence.upperBound &- 5)..<essence.upperBound
        return ByteComparison.equalsFolded(contentType.extracting(prefix), "application/")
            && ByteComparison.equalsFolded(contentType.extracting(suffix), "+json")
    }

    /// Whether a `Content-Encoding` value names no coding but `identity` (RFC 9110 §8.4.1).
    package static func isIdentity(_ contentEncoding: Span<UInt8>) -> Bool {
        var start = 0
        while start <= contentEncoding.count {
            var end = start
            while end < contentEncoding.count, contentEncoding[end] != UInt8(ascii: ",") { end &+= 1 }
            let element = contentEncoding.extracting(start..<end)
            let coding = element.extracting(self.essence(element))
            guard coding.isEmpty || ByteComparison.equalsFolded(coding, "identity") else { return false }
            start = end &+ 1
        }
        return true
    }

    /// Whether an `Accept` value would rather have an event stream than JSON; see `AcceptPreference`.
    package static func prefersEventStream(_ accept: Span<UInt8>) -> Bool {
        var preference = AcceptPreference()
        preference.add(accept)
        return preference.prefersEventStream
    }

    /// The range of `type/subtype`, without parameters and white space around.
    static func essence(_ value: Span<UInt8>) -> Range<Int> {
        var start = 0
        while start < value.count, Byte.isBlank(value[start]) { start &+= 1 }
        var end = start
        while end < value.count, value[end] != Byte.semicolon { end &+= 1 }
        while end > start, Byte.isBlank(value[end &- 1]) { end &-= 1 }
        return start..<end
    }
}
