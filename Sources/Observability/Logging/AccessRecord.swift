package import GatewayTypes

/// The one line of metadata that an ask leaves behind.
///
/// No field can hold a text, an answer, a key, a header or a cookie: strings are identifiers, and everything else is a
/// number, a time or a member of a closed set. Set a name only once it was found in the configuration: a task that the
/// client named and nobody knows stays nil. Keep it so when adding a field.
package struct AccessRecord: Sendable {
    /// When the ask ended.
    package var time: WallTime
    package var requestID: RequestID
    package var tenant: TenantID?
    /// The user's internal identifier, as the token names it; written escaped and cut to 255 bytes.
    package var subject: SubjectID?
    package var plan: PlanName?
    package var task: TaskName?
    /// The route of the last attempt; nil when there was none.
    package var provider: ProviderName?
    package var model: ModelName?
    /// The route's template, never the path that was asked for.
    package var route: StaticString?
    package var outcome: Outcome
    /// The HTTP status that was sent; nil when nothing was.
    package var status: Int?
    /// From the first byte of the request to the last of the answer.
    package var total: TimeSpan
    /// What the gateway itself took: total without the time spent waiting for the provider and the client.
    package var overhead: TimeSpan?
    /// From the first byte of the request to the first of the answer's text.
    package var firstToken: TimeSpan?
    /// Characters of the trimmed text, as a person counts them.
    package var textLength: Int?
    /// What was charged, and whether the provider said so or it was estimated.
    package var usage: TokenUsage?
    /// Provider calls made.
    package var attempts = 0
    package var isStream = false
    /// Where the answer came from; nil for tasks that keep none.
    package var cache: CacheUse?
    /// The client cancelled the ask, by going away or by `DELETE`.
    package var isCancelled = false
    /// The client's own trace where it sent one, else the ask's.
    package var trace: TraceID?
    /// Why the caller was not let in; nil for one who was.
    package var refusal: RefusalReason?
    /// How the last attempt of a failed ask ended, or why none was made, as the metric of attempts names it; nil for
    /// every other ask.
    package var providerFailure: RefusalReason?

    package init(time: WallTime, requestID: RequestID, outcome: Outcome, total: TimeSpan) {
        self.time = time
        self.requestID = requestID
        self.outcome = outcome
        self.total = total
    }
}

/// Why a token was refused or a provider gave no answer: a bounded name, never anything of theirs.
package struct RefusalReason: Hashable, Sendable {
    let name: String

    package init(_ reason: some MetricLabel) { self.name = reason.metricLabel }
}
