import Testing

/// One mistake in an otherwise good configuration, and everything that is said about it.
struct Mistake: CustomTestStringConvertible {
    let title: String
    let replace: String
    let by: String
    /// Without the name of the file.
    let problems: [String]

    init(_ title: String, replace: String, by: String, problems: [String]) {
        self.title = title
        self.replace = replace
        self.by = by
        self.problems = problems
    }

    var testDescription: String { self.title }

    static let all = structure + listeners + hops + providers + providerCalls + tenants + issuers + plans + tasks
}

@Suite struct MistakeTests {
    @Test func theUnbrokenFileHasNoProblem() { #expect(problems(goodConfiguration).isEmpty) }

    @Test(arguments: Mistake.all)
    func toldWithPlaceAndRemedy(_ mistake: Mistake) {
        let found = problems(goodConfiguration.replacing(only: mistake.replace, by: mistake.by))
        #expect(found == mistake.problems.map { "c.yaml:" + $0 })
    }

    @Test(arguments: Mistake.all)
    func neverRepeatsASecret(_ mistake: Mistake) {
        for problem in problems(goodConfiguration.replacing(only: mistake.replace, by: mistake.by)) {
            #expect(!problem.contains("canary"))
        }
    }

    @Test func allMistakesOfAFileAreToldTogetherFromTopToBottom() {
        let text =
            goodConfiguration
            .replacing(only: "limit: 20", by: "limit: many")
            .replacing(only: "dialect: demo", by: "dialect: dmeo")
            .replacing(only: "provider: main", by: "provider: mian")
        let lines = problems(text).map { $0.split(separator: ":")[1] }
        #expect(lines == ["4", "16", "19"])
    }

    @Test func aMistypedDialectIsToldOnceHoweverOftenTheProviderIsUsed() {
        let text =
            goodConfiguration
            .replacing(only: "dialect: demo", by: "dialect: dmeo")
            .replacing(only: "[{provider: main, model: small}]", by: "[{provider: demo}, {provider: main, model: a}]")
        let found = problems(text)
        #expect(found == ["c.yaml:4:19: unknown dialect `dmeo`, did you mean `demo`?; write `demo`"])
    }

    @Test func theListOfProblemsIsBounded() {
        let keys = (0..<500).map { "unknown\($0): 1\n" }.joined()
        let found = problems(goodConfiguration + keys)
        #expect(found.count == 101)
        #expect(found.last == "c.yaml: warning: there are more problems than the 100 shown; mend these first")
    }

    @Test func aFlatFileOfLimitsWithASlipIsRefusedAndNamesTheSlip() {
        let found = problems(#"{"plans":{"free":{"requests_per_minit":5}},"tasks":{"ask":{"model":"m"}}}"#)
        #expect(found.contains { $0.hasPrefix("c.yaml:1:2: unknown key `plans` in the configuration") })
        let inPlace = goodConfiguration.replacing(
            only: "limits:\n          - {name: requests_per_minute, limit: 20}", by: "requests_per_minit: 5")
        #expect(problems(inPlace).contains { $0.contains("15:9: unknown key `requests_per_minit` in a plan") })
        #expect(problems(inPlace).contains { $0.contains("a plan has no `limits`") })
    }
}
