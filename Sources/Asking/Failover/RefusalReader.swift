import GatewayTypes

/// Reads the error that comes with a 400 or 422 just far enough to know whether the words were too many for the model:
/// then a model with a larger window may take them. Nothing of it is kept or shown.
struct RefusalReader {
    private static let most = 4096
    /// What vendors say of a prompt beyond the window, in lower case.
    private static let signs: [StaticString] = [
        "context_length", "context length", "context window", "context size", "prompt is too long", "too many tokens",
        "maximum number of tokens", "exceeds the available context",
    ]

    private var text: [UInt8] = []

    /// Takes a piece; true when enough was read.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes.prefix(Self.most &- self.text.count) {
            self.text.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
        }
        return self.text.count >= Self.most
    }

    var failure: ProviderFailure {
        Self.signs.contains { self.contains($0) } ? .contextTooLong : .requestRefused
    }

    private func contains(_ sign: StaticString) -> Bool {
        let sign = UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount)
        guard self.text.count >= sign.count else { return false }
        return (0...(self.text.count - sign.count)).contains { start in
            self.text[start..<(start + sign.count)].elementsEqual(sign)
        }
    }
}
