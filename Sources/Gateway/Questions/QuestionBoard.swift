import EventLoops
import GatewayTypes
import Synchronization

/// The questions of this process that can be found by their identifier: those that stream, and those whose answers are
/// kept. In memory, shared by all loops.
///
/// What is kept is bounded for every tenant and in all. A full board lets the oldest finished answers go; when all of
/// it is taken by running asks, further ones are answered as if their task kept nothing.
package final class QuestionBoard: Sendable {
    package struct Bounds: Hashable, Sendable {
        /// Of all answers with what is kept beside them.
        package var bytes: Int
        /// Of the answers of one tenant.
        package var tenantBytes: Int

        package init(bytes: Int = 67_108_864, tenantBytes: Int = 33_554_432) {
            self.bytes = bytes
            self.tenantBytes = tenantBytes
        }
    }

    /// What an identifier stands for.
    enum Found {
        case held(Question)
        /// It streams, and nothing of it is kept.
        case running(RunningAsk)
        /// It was cancelled a moment ago.
        case cancelled
    }

    /// The answers of one tenant.
    private struct Shelf {
        var bytes = 0
        /// Finished ones in the order of their ends, and such as are gone already.
        var finished: [RequestID] = []
        var oldest = 0

        mutating func trim() {
            guard self.oldest > 64, self.oldest &* 2 > self.finished.count else { return }
            self.finished.removeFirst(self.oldest)
            self.oldest = 0
        }
    }

    private struct State {
        var bounds = Bounds()
        var held: [RequestID: (question: Question, bytes: Int)] = [:]
        var running: [RequestID: RunningAsk] = [:]
        var shelves: [TenantID: Shelf] = [:]
        var bytes = 0
        /// The last that were cancelled, oldest first.
        var cancelled: [(id: RequestID, owner: QuestionOwner)] = []
    }

    /// What a question takes beside its text, roughly.
    static let overhead = 1024
    /// What a question takes from its beginning.
    static let leastBytes = 4096
    private static let mostCancelled = 1024

    private let state = Mutex(State())
    /// Names this process among those that share its store; nil where it is alone.
    package let instance: UInt32?

    package init(instance: UInt32? = nil) { self.instance = instance }

    /// A new identifier, by which other instances find this one.
    func newID(using words: inout RandomWords) -> RequestID {
        guard let instance = self.instance else { return .random(using: &words) }
        return .random(of: instance, using: &words)
    }

    /// Bytes held now; never above the bound.
    package var heldBytes: Int { self.state.withLock { $0.bytes } }
    /// Questions whose answers are kept, running ones among them.
    package var keptCount: Int { self.state.withLock { $0.held.count } }
    /// Questions that can be found now.
    package var count: Int { self.state.withLock { $0.held.count + $0.running.count } }

    // MARK: Questions that are kept

    /// Takes a question in; false when there is no room.
    ///
    /// - Parameter bounds: those in force. What is kept above them goes as others come.
    func begin(_ question: Question, within bounds: Bounds) -> Bool {
        self.changing { state, gone in
            state.bounds = bounds
            guard Self.makeRoom(for: question.paidBytes, of: question.owner.tenant, in: &state, &gone) else {
                return false
            }
            state.held[question.id] = (question, question.paidBytes)
            Self.add(question.paidBytes, of: question.owner.tenant, to: &state)
            return true
        }
    }

    /// Grants more bytes to a running question; false when there is no room.
    func grow(_ question: Question, by bytes: Int) -> Bool {
        self.changing { state, gone in
            guard state.held[question.id]?.question === question,
                Self.makeRoom(for: bytes, of: question.owner.tenant, in: &state, &gone)
            else { return false }
            state.held[question.id]?.bytes &+= bytes
            Self.add(bytes, of: question.owner.tenant, to: &state)
            return true
        }
    }

    /// A question has ended, and holds no more than these bytes from now on.
    func keep(_ question: Question, bytes: Int) -> Int {
        self.state.withLock { state in
            guard let entry = state.held[question.id], entry.question === question else { return bytes }
            state.held[question.id]?.bytes = bytes
            Self.add(bytes &- entry.bytes, of: question.owner.tenant, to: &state)
            Self.line(up: question, in: &state)
            return bytes
        }
    }

    func remove(_ question: Question) {
        self.state.withLock { state in
            guard state.held[question.id]?.question === question else { return }
            _ = Self.remove(question.id, from: &state)
        }
    }

    // MARK: Others that run

    func enter(_ id: RequestID, _ ask: RunningAsk) { self.state.withLock { $0.running[id] = ask } }

    func leave(_ id: RequestID) { self.state.withLock { _ = $0.running.removeValue(forKey: id) } }

    // MARK: Finding

    /// Nil for what is unknown here and for what is somebody else's.
    func find(_ id: RequestID, of owner: QuestionOwner) -> Found? {
        self.state.withLock { state in
            if let entry = state.held[id] { return entry.question.owner == owner ? .held(entry.question) : nil }
            if let ask = state.running[id] { return ask.owner == owner ? .running(ask) : nil }
            return state.cancelled.contains { $0.id == id && $0.owner == owner } ? .cancelled : nil
        }
    }

    /// Remembers for a while that a question was cancelled, so that to cancel it again is no mistake.
    func noteCancelled(_ id: RequestID, of owner: QuestionOwner) {
        self.state.withLock { state in
            if state.cancelled.count >= Self.mostCancelled { state.cancelled.removeFirst(Self.mostCancelled / 4) }
            state.cancelled.append((id, owner))
        }
    }

    // MARK: Room

    private func changing(_ change: (inout State, inout [Question]) -> Bool) -> Bool {
        var gone: [Question] = []
        let result = self.state.withLock { change(&$0, &gone) }
        for question in gone { question.forget() }
        return result
    }

    private static func makeRoom(
        for bytes: Int, of tenant: TenantID, in state: inout State, _ gone: inout [Question]
    ) -> Bool {
        while (state.shelves[tenant]?.bytes ?? 0) &+ bytes > state.bounds.tenantBytes {
            guard let question = self.dropOldest(of: tenant, from: &state) else { return false }
            gone.append(question)
        }
        while state.bytes &+ bytes > state.bounds.bytes {
            // Whoever holds most gives way first.
            let fullest = state.shelves.filter { $0.value.oldest < $0.value.finished.count }
                .max { $0.value.bytes < $1.value.bytes }
            guard let fullest else { return false }
            if let question = self.dropOldest(of: fullest.key, from: &state) { gone.append(question) }
        }
        return true
    }

    /// Lines a finished question up behind the others; those that have expired make no line longer.
    private static func line(up question: Question, in state: inout State) {
        guard var shelf = state.shelves.removeValue(forKey: question.owner.tenant) else { return }
        shelf.finished.append(question.id)
        while shelf.oldest < shelf.finished.count, state.held[shelf.finished[shelf.oldest]] == nil {
            shelf.oldest &+= 1
        }
        shelf.trim()
        // A task that keeps its answers for long must not hold up the places of those that are gone already.
        if shelf.finished.count > 2 &* state.held.count &+ 256 {
            let held = state.held
            shelf.finished = shelf.finished[shelf.oldest...].filter { held[$0] != nil }
            shelf.oldest = 0
        }
        state.shelves[question.owner.tenant] = shelf
    }

    private static func dropOldest(of tenant: TenantID, from state: inout State) -> Question? {
        while var shelf = state.shelves[tenant], shelf.oldest < shelf.finished.count {
            let id = shelf.finished[shelf.oldest]
            shelf.oldest &+= 1
            shelf.trim()
            state.shelves[tenant] = shelf
            if let question = self.remove(id, from: &state) { return question }
        }
        return nil
    }

    private static func remove(_ id: RequestID, from state: inout State) -> Question? {
        guard let (question, bytes) = state.held.removeValue(forKey: id) else { return nil }
        self.add(-bytes, of: question.owner.tenant, to: &state)
        return question
    }

    private static func add(_ bytes: Int, of tenant: TenantID, to state: inout State) {
        state.bytes &+= bytes
        state.shelves[tenant, default: Shelf()].bytes &+= bytes
    }
}

/// An ask that streams and keeps nothing.
struct RunningAsk: @unchecked Sendable {
    // Unchecked: the relay is touched on its loop only.
    let owner: QuestionOwner
    private let loop: EventLoop
    private let relay: AnswerRelay

    init(_ relay: AnswerRelay, of owner: QuestionOwner, on loop: EventLoop) {
        self.owner = owner
        self.loop = loop
        self.relay = relay
    }

    /// From any loop; nothing happens when it is over.
    func cancel() {
        if self.loop.isCurrent { self.relay.cancel() } else { self.loop.submit { self.relay.cancel() } }
    }
}
