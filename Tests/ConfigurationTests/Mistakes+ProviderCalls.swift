extension Mistake {
    static let providerCalls: [Mistake] = [
        Mistake(
            "a path without its slash", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, path: chat}",
            problems: [
                "3:95: `path` does not begin with a slash; write a path such as /chat/completions"
            ]),
        Mistake(
            "a path with a query", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, path: /chat?key=sk-canary}",
            problems: [
                "3:95: `path` holds a `?` or `#`; parameters stand under `query`; write a path such as "
                    + "/chat/completions"
            ]),
        Mistake(
            "a path with a space", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, path: /a b}",
            problems: [
                "3:95: `path` holds spaces or signs outside ASCII; write a path such as /chat/completions"
            ]),
        Mistake(
            "an unknown placeholder", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, path: \"/{deployment}/chat\"}",
            problems: [
                "3:95: `path` holds a placeholder that is neither `{model}` nor `{method}`; write a path "
                    + "such as /chat/completions"
            ]),
        Mistake(
            "a placeholder of another dialect", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, path: \"/{method}\"}",
            problems: [
                "3:95: `path` holds `{method}`, which is of the gemini dialect alone; write a path such "
                    + "as /chat/completions"
            ]),
        Mistake(
            "a key's place that is two", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, key_in: {header: api-key, query: key}}",
            problems: [
                "3:97: `key_in` needs exactly one of `header` and `query`; write `{header: NAME}`, "
                    + "`{header: NAME, scheme: Bearer}` or `{query: NAME}`"
            ]),
        Mistake(
            "a key's place that is none", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, key_in: {}}",
            problems: [
                "3:97: `key_in` needs exactly one of `header` and `query`; write `{header: NAME}`, "
                    + "`{header: NAME, scheme: Bearer}` or `{query: NAME}`"
            ]),
        Mistake(
            "a parameter with a scheme", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, key_in: {query: key, scheme: Bearer}}",
            problems: [
                "3:110: only a header has a `scheme`; write `{header: NAME}`, `{header: NAME, scheme: "
                    + "Bearer}` or `{query: NAME}`"
            ]),
        Mistake(
            "a key in a header of the framing", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, key_in: {header: Host}}",
            problems: [
                "3:106: `host` is set by Askgate itself; write `{header: NAME}`, `{header: NAME, scheme: "
                    + "Bearer}` or `{query: NAME}`"
            ]),
        Mistake(
            "a key in no header", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, key_in: {header: \"api key\"}}",
            problems: [
                "3:106: `header` is `api key`, which is no name; write `{header: NAME}`, `{header: NAME, "
                    + "scheme: Bearer}` or `{query: NAME}`"
            ]),
        Mistake(
            "a second value for the key's header", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, key_in: {header: X-Pass}, headers: {x-pass: a}}",
            problems: [
                "3:125: `x-pass` carries the provider's key; write `key: {env: NAME}` instead"
            ]),
        Mistake(
            "a second value for the key's parameter", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, key_in: {query: pass}, query: {pass: a}}",
            problems: [
                "3:120: `pass` carries the provider's key; write `key: {env: NAME}` instead"
            ]),
        Mistake(
            "a literal secret among the parameters", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, query: {api_key: sk-canary}}",
            problems: [
                "3:106: the parameter `api_key` is written into the file, where secrets never stand; "
                    + "write `{env: NAME}` or `{file: PATH}`"
            ]),
        Mistake(
            "a parameter that is no word", replace: "{env: MAIN_KEY}}", by: "{env: MAIN_KEY}, query: {\"a b\": c}}",
            problems: [
                "3:97: `a b` is no name of a parameter; write `name: value`, or `name: {env: NAME}` when "
                    + "the value is secret"
            ]),
        Mistake(
            "an unknown member for the cap", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, output_cap_member: max_token}",
            problems: [
                "3:108: unknown `output_cap_member` `max_token`, did you mean `max_tokens`?; write "
                    + "`max_tokens`"
            ]),
        Mistake(
            "a temperature in place of a switch", replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, send_temperature: 0.2}",
            problems: [
                "3:107: `0.2` is neither true nor false; write true or false"
            ]),
        Mistake(
            "a key's place without a key", replace: "key: {env: MAIN_KEY}", by: "key_in: {header: api-key}",
            problems: [
                "3:67: there is no `key` to go there; write `key: {env: NAME}`"
            ]),
        Mistake(
            "an address that ends in the path", replace: "example.com/v1", by: "example.com/v1/chat/completions",
            problems: [
                "3:27: `base_url` ends in `/chat/completions`, and so calls would hold it twice; write "
                    + "the address without it, or a `path` of your own"
            ]),
        Mistake(
            "an address that ends in the vendor's part of the path", replace: "dialect: openai",
            by: "dialect: anthropic",
            problems: [
                "3:30: `base_url` ends in `/v1`, and so calls would hold it twice; write the address "
                    + "without it, or a `path` of your own"
            ]),
        Mistake(
            "a member of another dialect", replace: "dialect: openai, base_url: \"https://api.example.com/v1\"",
            by: "dialect: gemini, output_cap_member: max_tokens",
            problems: [
                "3:27: `output_cap_member` is of the openai dialect alone; remove it"
            ]),
        Mistake(
            "a path without its method", replace: "dialect: openai, base_url: \"https://api.example.com/v1\"",
            by: "dialect: gemini, path: /generate",
            problems: [
                "3:33: `path` does not say where the `{method}` goes; write a path such as "
                    + "/v1beta/models/{model}:{method}"
            ]),
        Mistake(
            "a path to the demo provider", replace: "{dialect: demo}", by: "{dialect: demo, path: /x}",
            problems: [
                "4:25: the demo provider calls nobody and has no `path`; remove it"
            ]),
    ]
}
