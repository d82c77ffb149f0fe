extension Mistake {
    static let plans: [Mistake] = [
        Mistake(
            "a yes for true",
            replace: "limit: 20",
            by: "limit: 20, observe: yes",
            problems: [
                "16:61: `yes` is neither true nor false; write true or false"
            ]),
        Mistake(
            "a negative limit",
            replace: "limit: 20",
            by: "limit: -1",
            problems: [
                "16:48: `limit` is `-1`, which is not a plain whole number; write a whole number "
                    + "from 0 to 1000000000000"
            ]),
        Mistake(
            "a limit with a fraction",
            replace: "limit: 20",
            by: "limit: 2.5",
            problems: [
                "16:48: `limit` is `2.5`, which is not a plain whole number; write a whole number "
                    + "from 0 to 1000000000000"
            ]),
        Mistake(
            "an unknown scope",
            replace: "limit: 20",
            by: "limit: 20, scope: user",
            problems: [
                "16:59: unknown scope `user`; write one of `subject`, `tenant`, `address`"
            ]),
        Mistake(
            "an unknown stance",
            replace: "limit: 20",
            by: "limit: 20, on_outage: open",
            problems: [
                "16:63: unknown stance for an outage `open`; write one of `deny`, `allow`, `local`"
            ]),
        Mistake(
            "a limit twice",
            replace: "limit: 20}",
            by: "limit: 20}\n          - {name: requests_per_minute, limit: 30}",
            problems: [
                "17:13: a second limit `requests_per_minute` with the scope `subject`; write one "
                    + "limit of each name and scope"
            ]),
        Mistake(
            "a plan with an unknown task",
            replace: "        limits:",
            by: "        tasks: [sumarize]\n        limits:",
            problems: [
                "15:17: there is no task `sumarize`, did you mean `summarize`?; write `summarize` "
                    + "or define it under `tasks`"
            ]),
        Mistake(
            "routes for a task that the plan lacks",
            replace: "        limits:",
            by: "        tasks: []\n        routes: {summarize: [{provider: demo}]}\n        limits:",
            problems: [
                "16:18: the plan has routes for `summarize` but does not allow this task; add it "
                    + "to the plan's `tasks` or remove its routes"
            ]),
    ]
}
