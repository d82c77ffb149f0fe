/// What vendors say of a prompt beyond a model's window: then a model with a larger one may take it.
///
/// There is no one code for it, so the words are looked for; nothing of them is kept or shown.
enum ContextSigns {
    /// Signs further behind are no vendor's.
    private static let most = 4096
    /// In lower case.
    private static let signs: [StaticString] = [
        "context_length", "context length", "context window", "context size", "prompt is too long", "too many tokens",
        "maximum number of tokens", "exceeds the available context",
    ]

    static func areIn(_ body: [UInt8]) -> Bool {
        let text = body.prefix(self.most).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        return self.signs.contains { sign in
            let sign = UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount)
            guard text.count >= sign.count else { return false }
            return (0...(text.count - sign.count)).contains { start in
                text[start..<(start + sign.count)].elementsEqual(sign)
            }
        }
    }
}
