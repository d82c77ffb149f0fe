package import EventLoops
import HTTPClient

/// The asking core of one loop. On its loop, all of it.
package final class AskingCore {
    private let loop: EventLoop
    private let client: UpstreamClient

    /// Nil when the HTTP client can't be set up.
    package init?(loop: EventLoop) {
        guard let client = UpstreamClient(loop: loop) else { return nil }
        self.loop = loop
        self.client = client
    }

    /// Calls to providers in flight.
    package var openCalls: Int { self.client.openCalls }

    /// Starts an ask. The receiver is told everything on this loop and is held until the end; a failure that is
    /// known at once is told before this returns.
    package func ask(_ request: AskRequest, of provider: Provider, receiver: any AnswerReceiver) -> Ask {
        let ask = Ask(
            loop: self.loop, deadlines: provider.deadlines, streams: request.streams, receiver: receiver)
        switch provider.dialect {
        case .openAI(let endpoints, let options): self.start(ask, .openAI(request, endpoints, options))
        case .anthropic(let endpoints, let options): self.start(ask, .anthropic(request, endpoints, options))
        case .gemini(let endpoints, let options): self.start(ask, .gemini(request, endpoints, options))
        case .demo(let wordDelay): ask.start(DemoAnswer(to: request, wordDelay: wordDelay, loop: self.loop))
        }
        return ask
    }

    private func start(_ ask: Ask, _ call: DialectCall) {
        ask.start(call.endpoint, body: call.body, decoder: call.decoder, client: self.client)
    }
}
