package import Gateway
package import GatewayTypes

/// Bounds of what the process remembers of questions, for all tenants.
package struct QuestionSettings: Sendable, Hashable {
    /// Of the answers that tasks with `resume` keep.
    package var bounds = QuestionBoard.Bounds()
    /// How long it is remembered that an ask was made with an idempotency key.
    package var keyLifetime = TimeSpan.seconds(3600)
    /// Idempotency keys of one tenant in the memory store.
    package var tenantKeys = 32_768

    package init() {}
}
