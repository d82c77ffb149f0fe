import Testing

@Suite("The checker of expositions")
struct ExpositionCheckerTests {
    @Test(
        "refuses what the formats refuse",
        arguments: [
            "# HELP a_total x\n# TYPE a_total counter\na_total 1", "# HELP a x\n# TYPE a counter\na 1\n",
            "a_total 1\n", "# HELP a_total x\n# TYPE a_total counter\na_total 1\na_total 2\n",
            "# HELP a_total x\n# TYPE a_total counter\na_total -1\n",
            "# HELP g x\n# TYPE g gauge\ng{a=\"\\x\"} 1\n", "# HELP g x\n# TYPE g gauge\ng{a=\"b} 1\n",
            "# HELP g x\n# TYPE g gauge\ng{1a=\"b\"} 1\n", "# HELP g x\n# TYPE g gauge\ng{a=\"b\",a=\"c\"} 1\n",
            "# HELP g x\n# TYPE g gauge\ng one\n", "# HELP g x\n# TYPE g gauge\nother 1\n",
            "# HELP g x\n# TYPE g gauge\ng 1\n# HELP h x\n# TYPE h gauge\nh 1\n# HELP g x\n# TYPE g gauge\ng{a=\"b\"} 1\n",
            "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1.0\"} 1\nh_sum 1\nh_count 1\n",
            "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1.0\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
            "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 1\n",
        ])
    func refuses(text: String) {
        #expect(throws: ExpositionChecker.Problem.self) { try ExpositionChecker(text, openMetrics: false) }
    }

    @Test(
        "refuses an OpenMetrics text without its end or with a wrong unit",
        arguments: [
            "# HELP g x\n# TYPE g gauge\ng 1\n", "# HELP a_total x\n# TYPE a_total counter\na_total 1\n# EOF\n",
            "# HELP g x\n# TYPE g gauge\n# UNIT g seconds\ng 1\n# EOF\n",
        ])
    func refusesOpenMetrics(text: String) {
        #expect(throws: ExpositionChecker.Problem.self) { try ExpositionChecker(text, openMetrics: true) }
    }
}
