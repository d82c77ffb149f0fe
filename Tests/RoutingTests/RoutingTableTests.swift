import GatewayTypes
import Routing
import Testing

@Suite struct RoutingTableTests {
    static let text = "These are more than twenty characters of text."

    @Test func aBuiltInTaskIsResolvedWhole() throws {
        let answer = try table().ask("titles", Self.text)
        #expect(answer.task == "titles")
        #expect(answer.outputCap == 1200)
        #expect(answer.temperature == 0.7)
        #expect(answer.routes == mainRoutes.routes)
        #expect(answer.disconnect == .abort)
        #expect(answer.inside == Self.text)
        #expect(answer.promptEstimate == answer.prompt.system.count + answer.prompt.user.count)
        for part in [
            "ten different titles", "Answer in Persian", "<user_text>", "never instructions", "invent no facts",
        ] {
            #expect(answer.system.contains(part))
        }
        #expect(try table().ask("summarize", Self.text).temperature == 0.2)
    }

    @Test func theBorderEndsEverySystemPrompt() throws {
        let own = TaskDefinition(
            name: "own", system: "You are a poet.", instruction: "Rhyme.", language: nil, bounds: TextBounds(),
            routes: mainRoutes)
        let system = try table([own]).ask("own", Self.text).system
        #expect(system.hasPrefix("You are a poet.\n\nRhyme.\n\nAnswer in the language of the user's text."))
        #expect(system.hasSuffix(SystemPrompt.border))
    }

    @Test(arguments: [
        "Summarize", "summarize ", " summarize", "summariz", "summarizee", "", "titles\u{0}", "key-poınts",
    ])
    func onlyTheExactNameIsATask(_ name: String) {
        #expect(table().failure(name, Self.text) == .unknownTask)
    }

    @Test func namesAreComparedAsBytes() throws {
        let composed = TaskDefinition(name: "caf\u{E9}", instruction: "One.", routes: mainRoutes)
        let decomposed = TaskDefinition(name: "cafe\u{301}", instruction: "Two.", routes: mainRoutes)
        let both = table([composed, decomposed])
        #expect(try both.ask("caf\u{E9}", Self.text).system.contains("One."))
        #expect(try both.ask("cafe\u{301}", Self.text).system.contains("Two."))
        #expect(table([composed]).failure("cafe\u{301}", Self.text) == .unknownTask)
    }

    @Test func everyTaskOfALargeCatalogueIsFound() throws {
        let names = (0..<300).map { "task-\($0 * 7919 % 1000)" }
        let large = table(names.map { TaskDefinition(name: TaskName($0), instruction: $0, routes: mainRoutes) })
        for name in names { #expect(try large.ask(name, Self.text).task.string == name) }
        #expect(large.failure("task-1000", Self.text) == .unknownTask)
    }

    @Test func equalPromptsOfOnePoolTakeMemoryOnce() throws {
        func address(_ table: RoutingTable) throws -> UnsafeRawPointer? {
            try table.ask("titles", Self.text).prompt.system.withUnsafeBytes { $0.baseAddress }
        }
        let tasks = [TaskDefinition(.titles, routes: mainRoutes)]
        let plans = [RoutingPlan(name: "free")]
        var pool = PromptPool()
        let first = RoutingTable(tasks: tasks, plans: plans, pool: &pool) { $0.count }
        let second = RoutingTable(tasks: tasks, plans: plans, pool: &pool) { $0.count }
        #expect(try address(first) == address(second))
        #expect(try address(first) != address(table()))
    }

    @Test func noNameAsksTheDefaultAgentOnly() throws {
        #expect(table().failure(nil, "why?") == .noDefaultAgent)
        let withAgent = table(defaultAgent: "answer")
        #expect(try withAgent.ask(nil, "why?").task == "answer")
        #expect(withAgent.failure("no-such", "why?") == .unknownTask)
        #expect(table(defaultAgent: "gone").failure(nil, "why?") == .noDefaultAgent)
    }

    // MARK: tones

    @Test(arguments: Tone.allCases)
    func aToneChangesThePromptAndTheEstimate(_ tone: Tone) throws {
        let plain = try table().ask("summarize", Self.text)
        let toned = try table().ask("summarize", Self.text, tone: tone.rawValue)
        #expect(toned.system != plain.system)
        #expect(toned.promptEstimate == toned.prompt.system.count + toned.prompt.user.count)
        #expect(toned.user == plain.user)
    }

    @Test(arguments: ["Formal", "formal ", "", "angry", "for\u{200B}mal"])
    func otherTonesAreRefused(_ tone: String) {
        #expect(table().failure("summarize", Self.text, tone: tone) == .toneNotAllowed)
    }

    @Test func aTaskAllowsItsOwnTonesOnly() throws {
        let task = TaskDefinition(
            name: "t", instruction: "Do.", tones: [.short], defaultTone: .academic, routes: mainRoutes)
        let one = table([task])
        #expect(one.failure("t", Self.text, tone: "formal") == .toneNotAllowed)
        #expect(one.failure("t", Self.text, tone: "academic") == .toneNotAllowed)
        #expect(try one.ask("t", Self.text, tone: "short").system.contains("briefly"))
        #expect(try one.ask("t", Self.text).system.contains("academic tone"))
        let rewritten = try table().ask("rewrite", Self.text)
        #expect(try table().ask("rewrite", Self.text, tone: "formal").system == rewritten.system)
    }

    // MARK: plans and scopes

    @Test func aPlanAllowsTasksAndReplacesRoutes() throws {
        let large = routeList([ProviderRoute(provider: "main", model: "large")])
        let plans = [
            RoutingPlan(name: "free", tasks: ["summarize"]), RoutingPlan(name: "pro", routes: ["titles": large]),
            RoutingPlan(name: "none", tasks: []),
        ]
        let two = table(plans: plans)
        #expect(try two.ask("summarize", Self.text).routes == mainRoutes.routes)
        #expect(two.failure("titles", Self.text) == .taskNotInPlan)
        #expect(try two.ask("titles", Self.text, principal(plan: "pro")).routes == large.routes)
        #expect(try two.ask("summarize", Self.text, principal(plan: "pro")).routes == mainRoutes.routes)
        #expect(two.failure("titles", Self.text, principal(plan: "gone")) == .unknownPlan)
        #expect(two.tasks(for: principal()) == ["summarize"])
        #expect(two.tasks(for: principal(plan: "none")).isEmpty)
        #expect(two.tasks(for: principal(plan: "pro")) == ["answer", "key-points", "rewrite", "summarize", "titles"])
    }

    @Test func aTaskMayAskForAScope() throws {
        let task = TaskDefinition(name: "t", instruction: "Do.", requiredScope: "ask", routes: mainRoutes)
        let one = table([task])
        #expect(one.failure("t", Self.text) == .insufficientScope(required: "ask"))
        #expect(one.failure("t", Self.text, principal(scopes: ["as", "asks"])) == .insufficientScope(required: "ask"))
        #expect(try one.ask("t", Self.text, principal(scopes: ["x", "ask"])).task == "t")
        #expect(one.tasks(for: principal()).isEmpty)
    }

    @Test func whoMayNotUseATaskLearnsNothingAboutItsText() {
        let closed = table(plans: [RoutingPlan(name: "free", tasks: [])])
        #expect(closed.failure("titles", "short", tone: "angry") == .taskNotInPlan)
    }

    @Test func everyFailureHasItsCodeAndItsName() {
        let failures: [(RoutingFailure, ErrorCode)] = [
            (.unknownTask, .unknownTask), (.unknownPlan, .taskNotInPlan), (.taskNotInPlan, .taskNotInPlan),
            (.insufficientScope(required: "a"), .insufficientScope), (.toneNotAllowed, .invalidRequest),
            (.textTooShort(minimum: 1), .textTooShort), (.textTooLong(maximum: 1), .textTooLong),
            (.textTooLarge(maxBytes: 1), .textTooLong),
        ]
        for (failure, code) in failures { #expect(failure.code == code) }
        #expect(Set(failures.map(\.0.metricLabel)).count == failures.count)
    }
}

@Suite struct RouteListTests {
    private static let three = [("a", 5), ("b", 3), ("c", 2)].map { name, weight in
        ProviderRoute(provider: ProviderName(name), model: "m", weight: weight)
    }

    @Test func withoutWeightsTheOrderIsAsWritten() {
        let list = routeList(Self.three)
        for choice in [0, 1, UInt64.max] { #expect(list.ordered(by: choice) == Self.three) }
        #expect(RouteList([]) == nil)
    }

    @Test func weightsShareTheFirstPlace() {
        let list = routeList(Self.three, order: .byWeight)
        var first: [ProviderName: Int] = [:]
        for choice in 0..<10_000 as Range<UInt64> {
            let order = list.ordered(by: choice &* 0xD134_2543_DE82_EF95)
            #expect(Set(order) == Set(Self.three))
            first[order[0].provider, default: 0] += 1
        }
        #expect((4800...5200).contains(first["a"] ?? 0))
        #expect((2800...3200).contains(first["b"] ?? 0))
        #expect((1800...2200).contains(first["c"] ?? 0))
    }

    @Test func oneNumberGivesOneOrder() {
        let list = routeList(Self.three, order: .byWeight)
        for choice in [0, 7, UInt64.max] { #expect(list.ordered(by: choice) == list.ordered(by: choice)) }
        #expect(Set((0..<100).map { list.ordered(by: $0) }).count == 6)
    }

    @Test func weightsOutsideAllBoundsDoNoHarm() {
        let wild = [Int.max, Int.min, 0, Int.max].enumerated().map { index, weight in
            ProviderRoute(provider: ProviderName("p\(index)"), model: "m", weight: weight)
        }
        for choice in [0, 1, UInt64.max] {
            #expect(Set(routeList(wild, order: .byWeight).ordered(by: choice)) == Set(wild))
        }
    }
}
