package import GatewayTypes

/// What a client's idempotency key stands for.
package struct KeyRecord: Hashable, Sendable {
    /// The first ask with the key.
    package var question: RequestID
    /// A keyed hash of its request, 32 digits; no text can be found by it.
    package var body: ByteString
    package var isFinished: Bool

    package init(question: RequestID, body: ByteString, isFinished: Bool = false) {
        self.question = question
        self.body = body
        self.isFinished = isFinished
    }
}

/// Names a key: a digest of tenant, subject and what the client sent, so that the key itself is not kept.
package struct KeyName: Hashable, Sendable {
    package var tenant: TenantID
    /// Printable ASCII.
    package var digest: ByteString

    package init(tenant: TenantID, digest: ByteString) {
        self.tenant = tenant
        self.digest = digest
    }
}

/// Whether an ask may use its key.
package enum KeyClaim: Hashable, Sendable {
    /// It is the first, or the one that has claimed it already.
    case mine
    /// Another one was first.
    case taken(KeyRecord)
    /// There is no room for a further key.
    case full
}

/// Remembers which ask was the first with a key, over all instances that share it.
package protocol KeyBook: Sendable {
    /// Takes a key for an ask, unless another has it. The key is forgotten after `lifetime` in any case.
    func claim(_ key: KeyName, for record: KeyRecord, lifetime: TimeSpan) async throws(QuotaFailure) -> KeyClaim

    /// The ask has ended, and the key stays taken for `lifetime`; nothing happens when another ask has the key.
    func finish(_ key: KeyName, _ record: KeyRecord, lifetime: TimeSpan) async throws(QuotaFailure)

    /// The ask came to nothing: the next one with the key is the first.
    func release(_ key: KeyName, _ record: KeyRecord) async throws(QuotaFailure)
}
