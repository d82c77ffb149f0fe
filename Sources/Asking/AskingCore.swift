package import EventLoops
import GatewayTypes
import HTTPClient

/// The asking core of one loop. On its loop, all of it.
package final class AskingCore {
    let loop: EventLoop
    private let client: UpstreamClient
    private let gates: CallGates
    /// By the identity of the provider: a reload makes new ones, and asks on their way keep theirs.
    private var standings: [ObjectIdentifier: ProviderStanding] = [:]
    /// The one that was asked for last, which most asks ask for again.
    private var lastStanding: ProviderStanding?

    /// - Parameter gates: those of the process, so that caps hold over all its loops.
    /// - Returns: nil when the HTTP client can't be set up.
    package init?(loop: EventLoop, gates: CallGates = CallGates()) {
        guard let client = UpstreamClient(loop: loop) else { return nil }
        self.loop = loop
        self.client = client
        self.gates = gates
    }

    /// Calls to providers in flight.
    package var openCalls: Int { self.client.openCalls }

    /// Starts an ask. The receiver is told everything on this loop and is held until the end; a failure that is
    /// known at once is told before this returns. Whoever asks has to hold the ask until then.
    ///
    /// - Parameter request: its model is that of the first route.
    package func ask(_ request: AskRequest, over routes: AskRoutes, receiver: any AnswerReceiver) -> Ask {
        let ask = Ask(request, over: routes, core: self, receiver: receiver)
        ask.start()
        return ask
    }

    /// Starts an ask that may go to one provider only.
    package func ask(_ request: AskRequest, of provider: Provider, receiver: any AnswerReceiver) -> Ask {
        let routes = AskRoutes(
            [ProviderRoute(provider: provider.name, model: request.model)], of: [provider.name: provider],
            tenant: "", seed: 0)
        return self.ask(request, over: routes, receiver: receiver)
    }

    /// What is known of a provider here.
    func standing(of provider: Provider) -> ProviderStanding {
        if let standing = self.lastStanding, standing.provider === provider { return standing }
        let standing = self.standings[ObjectIdentifier(provider)] ?? self.makeStanding(of: provider)
        self.lastStanding = standing
        return standing
    }

    private func makeStanding(of provider: Provider) -> ProviderStanding {
        let namesakes = self.standings.values.filter { $0.name == provider.name }
        let earlier = namesakes.max { $0.generation < $1.generation }
        // A reload leaves providers behind; a new one is the moment to let them go.
        self.lastStanding = nil
        self.standings = self.standings.filter { !$0.value.isAbandoned() }
        let standing = ProviderStanding(provider, gate: self.gates.gate(of: provider), earlier: earlier)
        self.standings[ObjectIdentifier(provider)] = standing
        return standing
    }

    /// Makes the call of one attempt; false when the provider has as many open as it may.
    func call(_ dialect: Provider.Dialect, for ask: Ask, _ request: AskRequest, deadline: TimeSpan) -> Bool {
        switch dialect {
        case .openAI(let endpoints, let options): self.start(ask, .openAI(request, endpoints, options), deadline)
        case .anthropic(let endpoints, let options): self.start(ask, .anthropic(request, endpoints, options), deadline)
        case .gemini(let endpoints, let options): self.start(ask, .gemini(request, endpoints, options), deadline)
        case .demo(let wordDelay): ask.begin(DemoAnswer(to: request, wordDelay: wordDelay, loop: self.loop))
        case .service(let service, let deadlines):
            ask.begin(
                ServiceAnswer(service, to: request, deadlines: deadlines, deadline: deadline, loop: self.loop))
        }
    }

    private func start(_ ask: Ask, _ call: DialectCall, _ deadline: TimeSpan) -> Bool {
        ask.begin(call.decoder) {
            self.client.start(
                call.endpoint, body: call.body, expectsStream: ask.streams, deadline: deadline, receiver: ask)
        }
    }
}
