import Asking
import GatewayTypes
import JSON

/// How an ask comes in and its answer goes out: one value for each asking route. All else of an ask is the same.
enum WireForm: Sendable {
    /// `POST /api/process`
    case process
    /// `POST /v1/questions`
    case question
    /// `POST /v1/chat/completions`
    case chat

    /// Whether its events have numbers, so that a client can come back for the rest.
    var hasNumbers: Bool {
        switch self {
        case .process, .question: true
        case .chat: false
        }
    }

    /// Tells the routes apart where their asks are remembered.
    var letter: UInt8 {
        switch self {
        case .process: 0x70  // p
        case .question: 0x71  // q
        case .chat: 0x63  // c
        }
    }

    /// Reads the body of an ask.
    func command(parsing body: [UInt8], limit: Int) throws(AskFailure) -> AskCommand {
        let root = try AskCommand.root(of: body, limit: limit)
        switch self {
        case .process: return try AskCommand(process: root)
        case .question: return try AskCommand(question: root)
        case .chat: return try AskCommand(chat: root)
        }
    }

    /// Begins the events of an ask whose task is resolved.
    func stream(_ context: AskContext) -> AnswerStream {
        switch self {
        case .process, .question: .own(AnswerEvents(questionID: context.questionID))
        case .chat:
            .chat(
                ChatChunks(
                    id: context.questionID, created: context.askedAt, model: context.task?.task ?? TaskName(""),
                    reportsUsage: context.reportsUsage))
        }
    }

    /// The media type is the same for all: JSON.
    func appendWhole(_ answer: WholeAnswer, to output: inout [UInt8]) {
        switch self {
        case .process:
            ProcessAnswer.append(
                result: answer.text.span, requestID: answer.id, usage: answer.usage, to: &output)
        case .question:
            ProcessAnswer.append(
                answer: answer.text.span, questionID: answer.id, usage: answer.usage, to: &output)
        case .chat: ChatAnswer.append(answer, to: &output)
        }
    }
}

/// An answer in one piece, and what every form may tell beside it.
struct WholeAnswer {
    let id: RequestID
    let task: TaskName
    let createdAt: WallTime
    let text: [UInt8]
    let finish: FinishWord
    let usage: TokenUsage
}

/// Writes the events of one streamed answer in the form of its route.
enum AnswerStream {
    case own(AnswerEvents)
    case chat(ChatChunks)

    /// Numbers the event that follows, where the form has numbers: client libraries of OpenAI expect none.
    @inline(__always)
    func appendNumber(_ number: Int, to output: inout [UInt8]) {
        if case .own(let events) = self { events.appendNumber(number, to: &output) }
    }

    @inline(__always)
    func appendStart(to output: inout [UInt8]) {
        switch self {
        case .own(let events): events.appendStart(to: &output)
        case .chat(let chunks): chunks.appendStart(to: &output)
        }
    }

    /// - Parameter delta: UTF-8.
    @inline(__always)
    func appendAnswer(delta: Span<UInt8>, to output: inout [UInt8]) {
        switch self {
        case .own(let events): events.appendAnswer(delta: delta, isFinal: false, to: &output)
        case .chat(let chunks): chunks.appendAnswer(delta: delta, to: &output)
        }
    }

    /// Appends what says that the answer is whole.
    func appendFinish(_ finish: FinishWord, usage: TokenUsage, to output: inout [UInt8]) {
        switch self {
        case .own(let events): events.appendFinish(usage: usage, to: &output)
        case .chat(let chunks): chunks.appendFinish(finish, usage: usage, to: &output)
        }
    }
}

extension FinishWord {
    init(_ reason: FinishReason?) {
        switch reason {
        case .length: self = .length
        case .contentFilter, .refusal: self = .contentFilter
        case .stop, .toolCalls, .other, nil: self = .stop
        }
    }
}
