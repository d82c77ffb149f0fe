import Asking
import GatewayTypes
import HTTPCodec
import HTTPServer
import Quota

/// Asks that carry an `Idempotency-Key`: only the first with a key is asked and charged.
extension RequestPipeline {
    /// Reads the client's key, if it sent one.
    @inline(never)
    func readKey(_ body: [UInt8], _ context: AskContext, _ form: WireForm) throws(AskFailure) {
        guard context.exchange.head.range(of: .idempotencyKey) != nil, let owner = context.owner else { return }
        let id = context.id
        let key = try AskKey.read(context.exchange.head) {
            AskKey($0, of: owner, body: body, route: form, question: id)
        }
        guard let key = key ?? nil else { throw AskFailure(.internalError) }
        context.key = key
    }

    /// Answers an ask whose key an earlier one has; false for the first.
    @inline(never)
    func isRepeat(_ context: AskContext, as form: WireForm) async throws(AskFailure) -> Bool {
        guard let key = context.key else { return false }
        guard let earlier = try await self.claim(key, context) else {
            context.key?.isHeld = true
            return false
        }
        guard earlier.body == key.record.body else { throw AskFailure(.idempotencyMismatch) }
        guard let owner = context.owner else { throw AskFailure(.internalError) }
        guard let question = try self.joinable(earlier.question, of: owner, context) else {
            try await self.repeatElsewhere(earlier, as: form, context)
            return true
        }
        context.isRepeat = true
        try await self.read(question, from: 0, as: form, beginsAtOnce: false, context)
        return true
    }

    /// Takes the key for this ask; the record of the ask that has it already.
    private func claim(_ key: AskKey, _ context: AskContext) async throws(AskFailure) -> KeyRecord? {
        let claim: KeyClaim
        do throws(QuotaFailure) {
            claim = try await context.loop.keys.claim(
                key.name, for: key.record, lifetime: context.snapshot.relay.keyLifetime)
        } catch {
            // The store may have written it down all the same, for an ask that nobody makes.
            if error.mayHaveActed { context.loop.keyEnds.add(.init(name: key.name, record: key.record, lifetime: nil)) }
            // Whether it was asked before is not known, and no stance says that it may be charged twice.
            throw AskFailure(.quotaStoreUnavailable)
        }
        switch claim {
        case .mine: return nil
        case .taken(let record): return record
        case .full: throw AskFailure(.overloaded)
        }
    }

    /// Says how the ask that has its key ended: one that cost nothing may be asked again. Before its client hears of
    /// the end, so that the client's next word finds it so.
    func letGo(of context: AskContext) async {
        guard let key = context.key, key.isHeld else { return }
        context.key?.isHeld = false
        let lifetime = context.usage == nil ? nil : context.snapshot.relay.keyLifetime
        let end = KeyEnds.End(name: key.name, record: key.record, lifetime: lifetime)
        // Until the store has heard of it the key stays taken: its ask is never charged twice.
        if await !KeyEnds.tell(end, context.loop.keys) { context.loop.keyEnds.add(end) }
    }
}
