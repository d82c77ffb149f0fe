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
        case .openAI(let endpoint, let asksForUsage):
            let body = OpenAIRequest.body(for: request, asksForUsage: asksForUsage)
            let decoder: any AnswerDecoder = request.streams ? OpenAIStreamDecoder() : OpenAIAnswerDecoder()
            ask.start(endpoint, body: body, decoder: decoder, client: self.client)
        case .demo(let wordDelay):
            ask.start(DemoAnswer(to: request, wordDelay: wordDelay, loop: self.loop))
        }
        return ask
    }
}
