extension Mistake {
    static let structure: [Mistake] = [
        Mistake(
            "an unknown key with a near one",
            replace: "requests_per_minute, limit: 20",
            by: "requests_per_minute, limt: 20",
            problems: [
                "16:41: unknown key `limt` in a limit, did you mean `limit`?; write `limit` or remove it"
            ]),
        Mistake(
            "a misspelt limit",
            replace: "name: requests_per_minute",
            by: "name: requests_per_minit",
            problems: [
                "16:20: unknown limit `requests_per_minit`, did you mean `requests_per_minute`?; "
                    + "write `requests_per_minute`"
            ]),
        Mistake(
            "an unknown key with nothing near",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\ncolour: blue",
            problems: [
                "2:1: unknown key `colour` in the configuration; write one of `listeners`, "
                    + "`loops`, `store`, `log`, `http`, `identity`, `questions`, `operators`, "
                    + "`providers`, `tenants`"
            ]),
        Mistake(
            "a misspelt key of a plan",
            replace: "limits:\n",
            by: "limts:\n",
            problems: [
                "15:9: unknown key `limts` in a plan, did you mean `limits`?; write `limits` or remove it"
            ]),
        Mistake(
            "a key written twice",
            replace: "    default_plan: free",
            by: "    default_plan: free\n    default_plan: free",
            problems: [
                "8:5: `default_plan` stands here for the second time, first in line 7; write it once"
            ]),
        Mistake(
            "a second document",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\n---\nloops: 1",
            problems: [
                "2:1: a second document begins here; write one document in a file, without `---` between its parts"
            ]),
        Mistake(
            "a tag",
            replace: "default_plan: free",
            by: "default_plan: !!str free",
            problems: [
                "7:19: tags (words that begin with !) are not read; write the value without its tag"
            ]),
        Mistake(
            "an alias without an anchor",
            replace: "default_plan: free",
            by: "default_plan: *plan",
            problems: [
                "7:19: this alias has no anchor above it; write `&name` before the value that "
                    + "`*name` repeats, or write the value out"
            ]),
        Mistake(
            "a merge key",
            replace: "  free:\n",
            by: "  free:\n        <<: {}\n",
            problems: [
                "15:9: merge keys are not read; write the keys of a plan out"
            ]),
        Mistake(
            "a tab as indent",
            replace: "demo: {dialect: demo}",
            by: "\tdemo: {dialect: demo}",
            problems: [
                "4:3: this is not YAML: found character that cannot start any token; write spaces "
                    + "instead of tabs to indent, and put quotes round values that begin with @, ` or %"
            ]),
        Mistake(
            "an open bracket",
            replace: "{dialect: demo}",
            by: "{dialect: demo",
            problems: [
                "5:8: this is not YAML: did not find expected ',' or '}'; check the indent, quotes "
                    + "and brackets here and on the line above"
            ]),
        Mistake(
            "a list where a mapping belongs",
            replace: "listeners: {api: {}}",
            by: "listeners: [api]",
            problems: [
                "1:12: `listeners` is a list where a mapping belongs; write its keys: `api`, `admin`, `internal`"
            ]),
    ]
}
