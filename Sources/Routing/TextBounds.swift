/// How long the trimmed text of a task may be.
///
/// Characters are counted as a person counts them (extended grapheme clusters, Swift's `Character`): a family emoji or
/// a letter with its marks is one, and so is CRLF. One Character can be megabytes long, so bytes are bounded first.
package struct TextBounds: Hashable, Sendable {
    package var minCharacters: Int
    package var maxCharacters: Int
    /// UTF-8 bytes of the trimmed text.
    package var maxBytes: Int

    package init(minCharacters: Int = 20, maxCharacters: Int = 12_000, maxBytes: Int = 65_536) {
        self.minCharacters = minCharacters
        self.maxCharacters = maxCharacters
        self.maxBytes = maxBytes
    }

    /// The Characters of a trimmed text that lies within the bounds.
    func admit(_ text: Span<UInt8>) throws(RoutingFailure) -> Int {
        guard text.count <= self.maxBytes else { throw .textTooLarge(maxBytes: self.maxBytes) }
        // Every Character takes at least one byte.
        guard text.count >= self.minCharacters else { throw .textTooShort(minimum: self.minCharacters) }
        let count = CharacterCount.count(text, stoppingAbove: self.maxCharacters)
        guard count <= self.maxCharacters else { throw .textTooLong(maximum: self.maxCharacters) }
        guard count >= self.minCharacters else { throw .textTooShort(minimum: self.minCharacters) }
        return count
    }
}
