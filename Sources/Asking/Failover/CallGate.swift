import EventLoops
package import GatewayTypes
import Synchronization

/// One ask that waits for its place at a provider. On its loop, but for being passed around by gates.
final class GateWaiter: @unchecked Sendable {
    // Unchecked: `ask` is touched on the loop's thread only.
    let loop: EventLoop
    /// Nil once the ask has gone.
    var ask: Ask?
    var ticket: FairQueue<GateWaiter>.Ticket?

    init(_ ask: Ask, loop: EventLoop) {
        self.ask = ask
        self.loop = loop
    }
}

/// The places at one provider, over all loops: so many calls and no more, and a fair queue before them.
///
/// Of the process, not of a loop: a provider's cap may be smaller than the number of loops, and a place that one loop
/// does not need must be another's. Only providers with a cap have a gate and pay for its lock.
package final class CallGate: Sendable {
    private struct State {
        var cap: Provider.Concurrency
        var open = 0
        var queue = FairQueue<GateWaiter>()
    }

    enum Entry {
        case open
        case waiting
        case full
    }

    private let state: Mutex<State>

    init(_ cap: Provider.Concurrency) { self.state = Mutex(State(cap: cap)) }

    /// Calls that hold a place, and asks that wait for one.
    package var load: (open: Int, waiting: Int) { self.state.withLock { ($0.open, $0.queue.count) } }

    /// Takes a place, or one in the queue. The waiter hears on its loop of the place it got or will not get.
    func enter(_ waiter: @autoclosure () -> GateWaiter, of tenant: TenantID) -> (Entry, GateWaiter?) {
        let isOpen = self.state.withLock { state in
            guard state.open < state.cap.calls else { return false }
            state.open &+= 1
            return true
        }
        return isOpen ? (.open, nil) : self.line(up: waiter(), of: tenant)
    }

    private func line(up waiter: GateWaiter, of tenant: TenantID) -> (Entry, GateWaiter?) {
        var displaced: GateWaiter?
        let entry: Entry = self.state.withLock { state in
            // A place may have come free since the first look.
            if state.open < state.cap.calls {
                state.open &+= 1
                return .open
            }
            switch state.queue.enter(waiter, of: tenant, atMost: state.cap.queue) {
            case .waiting(let ticket): waiter.ticket = ticket
            case .instead(let other, let ticket):
                waiter.ticket = ticket
                displaced = other
            case .full: return .full
            }
            return .waiting
        }
        if let displaced { displaced.loop.submit { displaced.ask?.lostPlace() } }
        return (entry, entry == .waiting ? waiter : nil)
    }

    /// Gives a place back; the next in turn gets it.
    func leave() {
        let next = self.state.withLock { state in Self.handOn(&state) }
        if let next { self.admit(next) }
    }

    private static func handOn(_ state: inout State) -> GateWaiter? {
        if state.open <= state.cap.calls, let next = state.queue.next() { return next }
        state.open &-= 1
        return nil
    }

    private func admit(_ waiter: GateWaiter) {
        waiter.loop.submit {
            // The ask may have gone while the word was on its way.
            if let ask = waiter.ask { ask.gotPlace() } else { self.leave() }
        }
    }

    /// An ask waits no longer. A place that is already on its way to it goes on to the next.
    func abandon(_ waiter: GateWaiter) {
        waiter.ask = nil
        guard let ticket = waiter.ticket else { return }
        self.state.withLock { state in _ = state.queue.remove(ticket) }
    }

    /// A reload brings other numbers; who holds or waits for a place keeps it.
    func adopt(_ cap: Provider.Concurrency) {
        let next = self.state.withLock { state in
            state.cap = cap
            var next: [GateWaiter] = []
            while state.open < cap.calls, let waiter = state.queue.next() {
                state.open &+= 1
                next.append(waiter)
            }
            return next
        }
        for waiter in next { self.admit(waiter) }
    }
}

/// The gates of all capped providers of a process; shared by the cores of all loops.
package final class CallGates: Sendable {
    private let gates = Mutex<[ProviderName: CallGate]>([:])

    package init() {}

    /// The gate of a provider, with the numbers of its present configuration; nil without a cap.
    func gate(of provider: Provider) -> CallGate? {
        guard let cap = provider.concurrency else { return nil }
        let (gate, isKnown) = self.gates.withLock { gates in
            if let gate = gates[provider.name] { return (gate, true) }
            let gate = CallGate(cap)
            gates[provider.name] = gate
            return (gate, false)
        }
        if isKnown { gate.adopt(cap) }
        return gate
    }

    /// Places taken and asks waiting at each capped provider.
    package var loads: [(provider: ProviderName, open: Int, waiting: Int)] {
        self.gates.withLock { $0 }.map { name, gate in
            let load = gate.load
            return (name, load.open, load.waiting)
        }
    }
}
