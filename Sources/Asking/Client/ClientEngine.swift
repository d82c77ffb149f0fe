import EventLoops
import GatewayTypes
import Glibc

/// The thread of a client, and the asks that are on their way there.
final class ClientEngine: @unchecked Sendable {
    // Unchecked: all that changes is touched on the loop's thread only.

    /// A question made ready for the core.
    struct Order: Sendable {
        var request: AskRequest
        var routes: AskRoutes
    }

    private let group: EventLoopGroup
    private let loop: EventLoop
    private var core: AskingCore?
    private var asks: [String: ClientAsk] = [:]
    /// Asks that have told their end and let their provider close its body; to be closed with the client.
    private var lingering: [Ask] = []

    init() throws(AskingFailure) {
        do {
            self.group = try EventLoopGroup(count: 1)
        } catch {
            throw .unavailable
        }
        guard let loop = self.group.loops.first, let core = AskingCore(loop: loop) else { throw .unavailable }
        self.loop = loop
        self.core = core
    }

    /// Asks. From any thread; the callbacks come on the loop's.
    func start(_ order: Order, id: String, _ callbacks: AskingCallbacks) {
        self.loop.submit { self.begin(order, id, callbacks) }
    }

    private func begin(_ order: Order, _ id: String, _ callbacks: AskingCallbacks) {
        guard let core = self.core else { return callbacks.onError(id, AskingFailure.cancelled) }
        let own = ClientAsk(id: id, callbacks: callbacks) { [weak self] in self?.ended(id) }
        self.asks[id] = own
        let ask = core.ask(order.request, over: order.routes, receiver: own)
        // It may have ended already; then nobody holds it any more.
        if self.asks[id] != nil { own.ask = ask }
    }

    private func ended(_ id: String) {
        let ask = self.asks.removeValue(forKey: id)?.ask
        self.lingering.removeAll { $0.isOver }
        if let ask, self.core != nil { self.lingering.append(ask) }
    }

    func cancel(_ id: String) { self.loop.submit { self.asks[id]?.ask?.cancel() } }

    /// Ends every ask, then the thread. Called from the thread itself, it returns before that is over.
    func stop() {
        self.loop.submit {
            // From now on nobody begins or lingers.
            self.core = nil
            for ask in self.asks.values { ask.ask?.cancel() }
            for ask in self.lingering { ask.cancel() }
            self.lingering = []
        }
        guard self.loop.isCurrent else { return self.group.shutDown() }
        self.stopElsewhere()
    }

    /// A thread cannot wait for its own end.
    private func stopElsewhere() {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self.group)
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<EventLoopGroup>.fromOpaque(argument).takeRetainedValue().shutDown()
                return nil
            }, argument.toOpaque())
        if result == 0 { pthread_detach(thread) } else { argument.release() }
    }
}
