extension Mistake {
    static let providers: [Mistake] = [
        Mistake(
            "an unknown dialect",
            replace: "dialect: demo",
            by: "dialect: dmeo",
            problems: [
                "4:19: unknown dialect `dmeo`, did you mean `demo`?; write `demo`"
            ]),
        Mistake(
            "a provider without address",
            replace: "base_url: \"https://api.example.com/v1\", ",
            by: "",
            problems: [
                "3:9: a provider has no `base_url`; write an address such as https://api.example.com/v1"
            ]),
        Mistake(
            "an address without scheme",
            replace: "https://api.example.com/v1",
            by: "api.example.com/v1",
            problems: [
                "3:37: `base_url` does not begin with https:// or http://; write an address such "
                    + "as https://api.example.com/v1"
            ]),
        Mistake(
            "an address with a password",
            replace: "https://api",
            by: "https://user:sk-canary@api",
            problems: [
                "3:37: `base_url` holds a user name or password; write an address such as "
                    + "https://api.example.com/v1"
            ]),
        Mistake(
            "an address with a query",
            replace: "com/v1",
            by: "com/v1?key=sk-canary",
            problems: [
                "3:37: `base_url` holds a `?` or `#`; write an address such as https://api.example.com/v1"
            ]),
        Mistake(
            "a literal key",
            replace: "key: {env: MAIN_KEY}",
            by: "key: sk-canary-literal",
            problems: [
                "3:72: `key` is written into the file, where secrets never stand; write `{env: "
                    + "NAME}` or `{file: PATH}`"
            ]),
        Mistake(
            "a key with two places",
            replace: "{env: MAIN_KEY}",
            by: "{env: MAIN_KEY, file: text.txt}",
            problems: [
                "3:72: `key` needs exactly one of `env` and `file`; write `{env: NAME}` or `{file: PATH}`"
            ]),
        Mistake(
            "a variable that is not set",
            replace: "env: MAIN_KEY",
            by: "env: MAIN_KEYS",
            problems: [
                "3:78: the environment variable MAIN_KEYS is not set; set it before the program starts"
            ]),
        Mistake(
            "a key in place of a variable's name",
            replace: "env: MAIN_KEY",
            by: "env: sk-canary-literal",
            problems: [
                "3:78: `env` does not hold the name of a variable; write the name of an "
                    + "environment variable, such as MAIN_KEY"
            ]),
        Mistake(
            "an empty variable",
            replace: "env: MAIN_KEY",
            by: "env: EMPTY",
            problems: [
                "3:78: `key` is empty in environment variable EMPTY; put the secret there"
            ]),
        Mistake(
            "a key that ends its header",
            replace: "env: MAIN_KEY",
            by: "env: SPLIT",
            problems: [
                "3:72: `key` from environment variable SPLIT holds line breaks or other signs that "
                    + "no header can carry; put the bare key there"
            ]),
        Mistake(
            "a file that does not exist",
            replace: "{env: MAIN_KEY}",
            by: "{file: nowhere.txt}",
            problems: [
                "3:79: `file` does not exist: `nowhere.txt`; write the path of a file, relative to this one"
            ]),
        Mistake(
            "a key to the demo provider",
            replace: "{dialect: demo}",
            by: "{dialect: demo, key: {env: MAIN_KEY}}",
            problems: [
                "4:25: the demo provider calls nobody and has no `key`; remove it"
            ]),
        Mistake(
            "a timeout longer than the whole",
            replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, timeouts: {idle: 2m}}",
            problems: [
                "3:100: `idle` (2m) is longer than `total` (90s); write a shorter `idle` or a longer `total`"
            ]),
        Mistake(
            "a header that carries the key",
            replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, headers: {Authorization: Bearer sk-canary}}",
            problems: [
                "3:99: `authorization` carries the provider's key; write `key: {env: NAME}` instead"
            ]),
        Mistake(
            "a header of the framing",
            replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, headers: {content-length: 1}}",
            problems: [
                "3:99: `content-length` is set by Askgate itself; remove it"
            ]),
        Mistake(
            "a header with a literal secret",
            replace: "{env: MAIN_KEY}}",
            by: "{env: MAIN_KEY}, headers: {X-Team-Token: sk-canary}}",
            problems: [
                "3:113: the header `X-Team-Token` is written into the file, where secrets never "
                    + "stand; write `{env: NAME}` or `{file: PATH}`"
            ]),
        Mistake(
            "a key without encryption on the way",
            replace: "https://api",
            by: "http://api",
            problems: [
                "3:27: warning: the provider's key goes over the network without encryption; write "
                    + "an https:// address"
            ]),
    ]
}
