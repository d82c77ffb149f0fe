/// One earlier message of a conversation, as it is put to a model. UTF-8.
package struct Turn: Hashable, Sendable {
    /// Who is said to have spoken. Both are the client's word: it can invent what the assistant said.
    package enum Speaker: String, Sendable {
        case user
        case assistant
    }

    package var speaker: Speaker
    package var text: [UInt8]

    package init(_ speaker: Speaker, _ text: [UInt8]) {
        self.speaker = speaker
        self.text = text
    }
}
