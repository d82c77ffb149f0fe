import GatewayTypes

/// The identifiers of all closed sets that this target labels series with.
struct KnownLabels: Sendable {
    let outcomes: ClosedLabels<Outcome>
    let limits: ClosedLabels<LimitKind>
    let scopes: ClosedLabels<LimitScope>
    let decisions: ClosedLabels<AdmissionDecision>
    let cacheUses: ClosedLabels<CacheUse>
    let stages: ClosedLabels<OverheadStage>
    let operations: ClosedLabels<StoreOperation>
    let reloads: ClosedLabels<ReloadResult>
    let methods: ClosedLabels<MethodLabel>
    let hopSides: ClosedLabels<HopSide>
    let hopOutcomes: ClosedLabels<HopOutcome>
    let chat: LabelID
    let input: LabelID
    let output: LabelID
    let unattributed: LabelID

    init(in table: LabelTable) {
        self.outcomes = ClosedLabels(
            [.answered, .clientGone] + ErrorCode.allCases.map { Outcome.failed($0) }, in: table)
        self.limits = ClosedLabels(LimitKind.allCases, in: table)
        self.scopes = ClosedLabels(LimitScope.allCases, in: table)
        self.decisions = ClosedLabels(AdmissionDecision.allCases, in: table)
        self.cacheUses = ClosedLabels(CacheUse.allCases, in: table)
        self.stages = ClosedLabels(OverheadStage.allCases, in: table)
        self.operations = ClosedLabels(StoreOperation.allCases, in: table)
        self.reloads = ClosedLabels(ReloadResult.allCases, in: table)
        self.methods = ClosedLabels(MethodLabel.allCases, in: table)
        self.hopSides = ClosedLabels(HopSide.allCases, in: table)
        self.hopOutcomes = ClosedLabels(HopOutcome.allCases, in: table)
        self.chat = table.intern("chat")
        self.input = table.intern("input")
        self.output = table.intern("output")
        self.unattributed = table.intern("unattributed")
    }
}
