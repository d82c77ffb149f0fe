import JSON

extension JSONWriter {
    /// Writes the texts at which a model is to stop, where there are any.
    mutating func stop(_ name: StaticString, _ texts: [[UInt8]]) {
        guard !texts.isEmpty else { return }
        self.name(name)
        self.beginArray()
        for text in texts { self.string(utf8: text) }
        self.endArray()
    }
}
