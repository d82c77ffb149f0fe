/// How one question is to be asked.
public struct AskingConfig: Hashable, Sendable {
    /// An agent of the selected provider; nil leaves the choice to the provider. An agent of one provider need not
    /// exist in another.
    public var specifiedAgent: String?

    /// The provider's own choice of everything.
    public static let `default` = AskingConfig()

    /// A configuration that names an agent, or none.
    public init(specifiedAgent: String? = nil) { self.specifiedAgent = specifiedAgent }
}

/// One update of an answer.
public struct AskingUpdate: Hashable, Sendable {
    /// The question that is answered.
    public var questionId: String
    /// What is new; nil when nothing is.
    public var deltaText: String?
    /// All of the text so far.
    public var fullText: String?
    /// Marks the last update of the text. It is not the end: only finishing or failing is.
    public var isFinal: Bool

    /// An update with all its parts.
    public init(questionId: String, deltaText: String?, fullText: String?, isFinal: Bool) {
        self.questionId = questionId
        self.deltaText = deltaText
        self.fullText = fullText
        self.isFinal = isFinal
    }
}
