import GatewayTypes
import HTTPCodec
import HTTPServer
import Observability
import Quota

/// Questions that another instance holds: what their owner wants of them is asked of that one, once, over its internal
/// listener.
extension RequestPipeline {
    /// What is known of a question that is not here.
    private enum Whereabouts {
        /// Nothing: it may never have been.
        case unknown
        /// It went with its instance.
        case gone
        case at(ByteString, HopClient, HopKeys)
    }

    /// Whether an identifier names another instance than this one, which need not exist.
    func isElsewhere(_ question: RequestID, _ context: AskContext) -> Bool {
        context.loop.questions.instance.map { $0 != question.instance } ?? false
    }

    private func find(_ question: RequestID, _ context: AskContext) async throws(AskFailure) -> Whereabouts {
        guard self.isElsewhere(question, context) else { return .unknown }
        guard let hops = context.loop.hops, let keys = context.snapshot.hopKeys else {
            return await self.isGone(question, context) ? .gone : .unknown
        }
        let address: ByteString?
        do throws(QuotaFailure) {
            address = try await hops.directory.address(of: question.instance, at: context.now())
        } catch {
            // Whether it is gone is not known, and who is told so asks no more.
            throw AskFailure(.quotaStoreUnavailable)
        }
        guard let address else {
            context.loop.metrics.hopEnded(.sent, .gone)
            return .gone
        }
        guard !address.isEmpty else { return .unknown }
        guard HopClient.isAddress(address) else { throw AskFailure(.instanceUnreachable) }
        return .at(address, hops, keys)
    }

    /// Whether a question died with the instance that held it, for an instance that forwards nothing.
    private func isGone(_ question: RequestID, _ context: AskContext) async -> Bool {
        guard let instances = context.loop.instances else { return false }
        do throws(QuotaFailure) {
            return try await instances.address(of: question.instance) == nil
        } catch {
            return false
        }
    }

    /// Asks the instance that holds a question and answers the client with what it says.
    @inline(never)
    func askElsewhere(_ command: HopCommand, _ context: AskContext) async throws(AskFailure) {
        guard let owner = context.owner else { throw AskFailure(.internalError) }
        switch try await self.find(command.question, context) {
        case .unknown: throw AskFailure(.notFound)
        case .gone: throw AskFailure(.questionGone)
        case .at(let address, let hops, let keys):
            let relay = HopRelay(command, context)
            let end = await relay.run(at: address, with: hops, keys: keys, owner: owner)
            context.loop.metrics.hopEnded(.sent, end.outcome)
            switch end {
            case .unreachable, .refused, .notHere: hops.directory.forget(command.question.instance)
            default: break
            }
            // It may have gone since its address was looked up.
            if case .unreachable = end, case .gone = try await self.find(command.question, context) {
                throw AskFailure(.questionGone)
            }
            try self.answer(end, of: command.question, hasBegun: relay.hasBegun, context)
        }
    }

    @inline(never)
    private func answer(
        _ end: HopRelay.End, of question: RequestID, hasBegun: Bool, _ context: AskContext
    ) throws(AskFailure) {
        switch end {
        case .streamed(let last): self.endStream(last, of: question, context)
        case .whole(.answer(let body)): self.respond(body, context)
        case .whole(.failure(let failure)):
            context.isRepeat = true
            throw failure
        case .nothing: self.answerNothing(context)
        case .failed(let failure, let isReplayed):
            context.isRepeat = isReplayed
            throw failure
        case .notHere: throw AskFailure(.questionGone)
        case .refused:
            context.loop.operations?.error("another instance refuses this one's signature: secrets or clocks differ")
            throw AskFailure(.instanceUnreachable)
        case .clientGone: context.outcome = .clientGone
        case .draining:
            guard hasBegun else { throw AskFailure(.draining) }
            self.fail(AskFailure(.draining), question, context)
        case .unreachable: throw AskFailure(.instanceUnreachable)
        case .overloaded: throw AskFailure(.overloaded)
        }
    }

    /// Ends the client's stream as the holder's ended.
    private func endStream(_ last: EventTail.Last, of question: RequestID, _ context: AskContext) {
        switch last {
        case .finished:
            context.outcome = .answered
            context.exchange.endStream(isComplete: true)
        case .failed(let code):
            context.outcome = .failed(code)
            context.exchange.endStream(isComplete: false)
        case .open where context.format == .own:
            // The question goes on, or its client is told of its end when it comes back, as after any broken network:
            // an `error` event would say that it is over.
            context.outcome = .failed(.instanceUnreachable)
            context.exchange.endStream(isComplete: false)
        case .open: self.fail(AskFailure(.instanceUnreachable), question, context)
        }
    }

    /// Breaks a stream off with an event that says why; the event has no number, since it is none of the question's.
    private func fail(_ failure: AskFailure, _ question: RequestID, _ context: AskContext) {
        context.outcome = .failed(failure.code)
        context.exchange.write {
            failure.answer.appendEvent(
                to: &$0, format: context.format, language: context.language, questionID: question)
        }
        context.exchange.endStream(isComplete: false)
    }

    private func respond(_ body: [UInt8], _ context: AskContext) {
        context.isRepeat = true
        context.outcome = .answered
        context.status = 200
        context.exchange.respond(200, body: body) { head in
            MessageWriter.field("content-type", "application/json", to: &head)
            context.appendFields(to: &head)
        }
    }

    // MARK: Repeats

    /// Answers the repeat of an ask that is not held here.
    @inline(never)
    func repeatElsewhere(_ earlier: KeyRecord, as form: WireForm, _ context: AskContext) async throws(AskFailure) {
        guard let task = context.task?.task else { throw AskFailure(.internalError) }
        let wanted = HopForm(
            form: form, streams: context.streams, reportsUsage: context.reportsUsage, task: task)
        do throws(AskFailure) {
            context.task?.prompt = Prompt(system: [], user: [])
            try await self.askElsewhere(.repeated(earlier.question, wanted), context)
        } catch {
            switch error.code {
            case .notFound where earlier.isFinished, .questionGone where earlier.isFinished:
                throw AskFailure(.idempotencyFinished)
            case .notFound: throw AskFailure(.idempotencyInProgress)
            default: throw error
            }
        }
    }
}
