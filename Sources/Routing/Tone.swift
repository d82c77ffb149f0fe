/// A manner of writing that a client may ask for; the server alone turns it into prompt text.
package enum Tone: String, Sendable, CaseIterable {
    case formal
    case friendly
    case academic
    case short
    case promotional
    case social

    /// The tone a client named, compared as bytes; nil for every other word.
    package init?(utf8 name: Span<UInt8>) {
        for tone in Tone.allCases where Bytes.equal(name, tone.rawValue.utf8.span) {
            self = tone
            return
        }
        return nil
    }

    /// Place in the prepared prompts of a task; 0 is kept for "no tone".
    var index: Int {
        switch self {
        case .formal: 1
        case .friendly: 2
        case .academic: 3
        case .short: 4
        case .promotional: 5
        case .social: 6
        }
    }

    /// The sentence that the prompt gains.
    var sentence: String {
        switch self {
        case .formal: "Write in a formal, polite and precise tone."
        case .friendly: "Write in a warm, friendly and simple tone."
        case .academic: "Write in an academic tone: objective, exact, with well-connected sentences."
        case .short: "Write as briefly as possible: short sentences, no repetition, no filler."
        case .promotional: "Write in a lively promotional tone, without claims that the text does not make."
        case .social: "Write in the relaxed tone of a social media post, ready to be published."
        }
    }
}
