import GatewayTypes
import HTTPCodec
import JOSE

/// What an instance wants of the one that holds a question.
enum HopCommand: Hashable {
    /// The answer, from behind the event with this number; nil from its start.
    case follow(RequestID, after: Int?)
    case cancel(RequestID)
    /// The answer from its start, as the repeat of the ask that began it wants it.
    case repeated(RequestID, HopForm)

    var question: RequestID {
        switch self {
        case .follow(let id, _), .cancel(let id), .repeated(let id, _): id
        }
    }

    var method: HTTPMethod {
        switch self {
        case .cancel: .delete
        case .follow, .repeated: .get
        }
    }

    private static let questions: StaticString = "/hop/v1/questions/"
    private static let repeats: StaticString = "/hop/v1/repeats/"

    /// The path it is asked for by; the method and `Last-Event-ID` say the rest.
    var target: [UInt8] {
        var target: [UInt8] = []
        switch self {
        case .follow(let id, _), .cancel(let id):
            MessageWriter.append(Self.questions, to: &target)
            id.append(to: &target)
        case .repeated(let id, let form):
            MessageWriter.append(Self.repeats, to: &target)
            id.append(to: &target)
            target.append(0x2F)
            form.append(to: &target)
        }
        return target
    }

    /// The value of `Last-Event-ID`; nil where none is sent.
    var lastEvent: [UInt8]? {
        guard case .follow(let id, let number?) = self else { return nil }
        var value: [UInt8] = []
        EventNumber(question: id, number: number).append(to: &value)
        return value
    }

    /// Nil for anything that the properties above don't write.
    init?(_ head: HTTPRequestHead) {
        guard head.query == nil else { return nil }
        if let rest = head.rest(ofPathAfter: Self.questions) {
            guard let id = head.withBytes(rest, { RequestID(digits: $0) }) else { return nil }
            switch head.method {
            case .delete: self = .cancel(id)
            case .get:
                guard let range = head.range(of: .lastEventID) else {
                    self = .follow(id, after: nil)
                    return
                }
                let last = head.count(of: .lastEventID) == 1 ? head.withBytes(range) { EventNumber($0) } : nil
                guard let last, last.question == id else { return nil }
                self = .follow(id, after: last.number)
            default: return nil
            }
        } else if head.method == .get, let rest = head.rest(ofPathAfter: Self.repeats) {
            let length = RequestID.textLength
            let parsed = head.withBytes(rest) { rest -> (RequestID, HopForm)? in
                guard rest.count > length, rest[length] == 0x2F,
                    let id = RequestID(digits: rest.extracting(0..<length)),
                    let form = HopForm(rest.extracting((length &+ 1)..<rest.count))
                else { return nil }
                return (id, form)
            }
            guard let (id, form) = parsed else { return nil }
            self = .repeated(id, form)
        } else {
            return nil
        }
    }
}

/// How a repeat wants its answer; written as two letters, a slash and the task.
struct HopForm: Hashable {
    let form: WireForm
    let streams: Bool
    /// Whether a streamed chat completion ends with its usage.
    let reportsUsage: Bool
    let task: TaskName

    init(form: WireForm, streams: Bool, reportsUsage: Bool, task: TaskName) {
        self.form = form
        self.streams = streams
        self.reportsUsage = reportsUsage
        self.task = task
    }

    /// Nil for anything that `append` doesn't write.
    init?(_ text: Span<UInt8>) {
        guard text.count > 3, text[2] == 0x2F,
            let form = [WireForm.process, .question, .chat].first(where: { $0.letter == text[0] }),
            let mode = Mode(rawValue: text[1]), let task = Base64URL.decode(text.extracting(3..<text.count)),
            let name = ByteString(utf8: task)
        else { return nil }
        self.init(form: form, streams: mode != .whole, reportsUsage: mode == .streamWithUsage, task: TaskName(name))
    }

    func append(to output: inout [UInt8]) {
        let mode: Mode = self.streams ? (self.reportsUsage ? .streamWithUsage : .stream) : .whole
        output += [self.form.letter, mode.rawValue, 0x2F]
        output += Base64URL.encode(Array(self.task.bytes.utf8).span)
    }

    private enum Mode: UInt8 {
        case whole = 0x77  // w
        case stream = 0x73  // s
        case streamWithUsage = 0x75  // u
    }
}

/// A hop as it is signed: what is wanted, for whom, when, and a word that is said once.
struct HopRequest: Hashable {
    let command: HopCommand
    /// Whose question it is, as the instance that knows the caller says. No token of the caller's goes with it.
    let owner: QuestionOwner
    /// Of messages for the user.
    let language: Language
    /// Of the calling instance's clock, since 1970.
    let seconds: Int64
    let nonce: RequestID

    /// What is signed: every part behind its length, so that none can give bytes to another.
    var signed: [UInt8] {
        var bytes: [UInt8] = []
        let parts: [[UInt8]] = [
            Array("askgate hop 1".utf8), Array(self.command.method.rawValue.utf8), self.command.target,
            Array(self.owner.tenant.bytes.utf8), Array(self.owner.subject.bytes.utf8), self.command.lastEvent ?? [],
            Array(self.language.rawValue.utf8), Array(String(self.seconds).utf8), Array(self.nonce.description.utf8),
        ]
        for part in parts {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: part)
        }
        return bytes
    }

    // MARK: Header fields

    static let tenantField: StaticString = "askgate-tenant"
    static let subjectField: StaticString = "askgate-subject"
    static let timeField: StaticString = "askgate-time"
    static let nonceField: StaticString = "askgate-nonce"
    static let signatureField: StaticString = "askgate-signature"

    /// The fields that carry it. Names of tenants and subjects may hold any character, fields may not.
    func fields(signature: [UInt8]) -> [(name: String, value: Secret)] {
        func encoded(_ bytes: some Sequence<UInt8>) -> Secret { Secret(Base64URL.encode(Array(bytes).span)) }
        var fields: [(name: String, value: Secret)] = [
            (Self.tenantField.description, encoded(self.owner.tenant.bytes.utf8)),
            (Self.subjectField.description, encoded(self.owner.subject.bytes.utf8)),
            (Self.timeField.description, Secret(String(self.seconds))),
            (Self.nonceField.description, Secret(self.nonce.description)),
            (Self.signatureField.description, encoded(signature)),
            ("accept-language", Secret(self.language.rawValue)),
        ]
        if let last = self.command.lastEvent { fields.append(("last-event-id", Secret(last))) }
        return fields
    }

    /// Nil for anything that `fields` doesn't write.
    init?(_ head: HTTPRequestHead) {
        guard let command = HopCommand(head), let tenant = Self.name(Self.tenantField, in: head),
            let subject = Self.name(Self.subjectField, in: head), let seconds = Self.seconds(in: head),
            let range = head.value(named: Self.nonceField),
            let nonce = head.withBytes(range, { RequestID(digits: $0) })
        else { return nil }
        self.init(
            command: command, owner: QuestionOwner(tenant: TenantID(tenant), subject: SubjectID(subject)),
            language: head.withValue(of: .acceptLanguage) { LanguagePreference.choose($0) } ?? .english,
            seconds: seconds, nonce: nonce)
    }

    init(command: HopCommand, owner: QuestionOwner, language: Language, seconds: Int64, nonce: RequestID) {
        self.command = command
        self.owner = owner
        self.language = language
        self.seconds = seconds
        self.nonce = nonce
    }

    static func signature(in head: HTTPRequestHead) -> [UInt8]? { self.decoded(self.signatureField, in: head) }

    private static func name(_ field: StaticString, in head: HTTPRequestHead) -> ByteString? {
        self.decoded(field, in: head).flatMap { ByteString(utf8: $0) }
    }

    private static func decoded(_ field: StaticString, in head: HTTPRequestHead) -> [UInt8]? {
        head.value(named: field).flatMap { head.withBytes($0) { Base64URL.decode($0) } }
    }

    private static func seconds(in head: HTTPRequestHead) -> Int64? {
        guard let range = head.value(named: self.timeField), (1...12).contains(range.count) else { return nil }
        return head.withBytes(range) { digits -> Int64? in
            var value: Int64 = 0
            for index in digits.indices {
                guard (0x30...0x39).contains(digits[index]) else { return nil }
                value = value &* 10 &+ Int64(digits[index] &- 0x30)
            }
            return value
        }
    }
}
