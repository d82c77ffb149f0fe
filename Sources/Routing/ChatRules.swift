import GatewayTypes

/// What a task takes from the OpenAI-compatible route beyond one text.
package struct ChatRules: Hashable, Sendable {
    /// Who may speak in a conversation; the user always may.
    package enum Role: String, Hashable, Sendable, CaseIterable {
        case user
        case assistant
        /// `system` and `developer`. Their text is read as the user's: it never gets the standing of the task's prompt.
        case system
    }

    /// What the client may decide within the task's bounds; the others are read and left aside.
    package enum Parameter: String, Hashable, Sendable, CaseIterable {
        case maxTokens = "max_tokens"
        case temperature
        case stop
    }

    package var roles: [Role]
    package var maxMessages: Int
    package var parameters: [Parameter]

    package init(
        roles: [Role] = [.user, .assistant], maxMessages: Int = 64, parameters: [Parameter] = Parameter.allCases
    ) {
        self.roles = roles
        self.maxMessages = maxMessages
        self.parameters = parameters
    }
}

/// What a client of the OpenAI-compatible route sends besides the last message's text.
package struct ChatAsk: Sendable {
    /// An earlier message: valid UTF-8, not yet trimmed.
    package struct Message: Sendable {
        package var role: ChatRules.Role
        package var text: [UInt8]

        package init(_ role: ChatRules.Role, _ text: [UInt8]) {
            self.role = role
            self.text = text
        }
    }

    package var history: [Message] = []
    /// Most tokens the client wants; at least 1.
    package var outputCap: Int?
    package var temperature: Double?
    package var stop: [[UInt8]] = []

    package init() {}
}

extension ChatRules {
    /// The earlier messages as turns, and the Characters they have together.
    func turns(of history: [ChatAsk.Message], bounds: TextBounds) throws(RoutingFailure) -> ([Turn], characters: Int) {
        guard history.count < self.maxMessages else { throw .tooManyMessages(maximum: self.maxMessages) }
        var turns: [Turn] = []
        turns.reserveCapacity(history.count)
        var bytes = 0
        var characters = 0
        for message in history {
            guard message.role == .user || self.roles.contains(message.role) else {
                throw .roleNotAllowed(message.role)
            }
            let trimmed = message.text.span.extracting(Trimming.bounds(of: message.text.span))
            bytes &+= trimmed.count
            guard bytes <= bounds.maxBytes else { throw .textTooLarge(maxBytes: bounds.maxBytes) }
            characters &+= CharacterCount.count(trimmed, stoppingAbove: bounds.maxCharacters)
            guard characters <= bounds.maxCharacters else { throw .textTooLong(maximum: bounds.maxCharacters) }
            guard !trimmed.isEmpty else { continue }
            turns.append(
                message.role == .assistant
                    ? Turn(.assistant, UserText.neutralized(trimmed)) : Turn(.user, UserText.element(around: trimmed)))
        }
        return (turns, characters)
    }

    /// Lays what the client wishes over the task, as far as the task lets it.
    func apply(_ chat: ChatAsk, to task: inout ResolvedTask) {
        if let cap = chat.outputCap, self.parameters.contains(.maxTokens) {
            task.outputCap = max(1, min(task.outputCap, cap))
        }
        if let temperature = chat.temperature, self.parameters.contains(.temperature) {
            task.temperature = temperature
        }
        if self.parameters.contains(.stop) { task.stop = chat.stop }
    }
}
