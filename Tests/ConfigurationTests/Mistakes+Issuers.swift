extension Mistake {
    static let issuers: [Mistake] = [
        Mistake(
            "no audience",
            replace: "        audience: gw\n",
            by: "",
            problems: [
                "9:9: an issuer has no `audience`; write `audience:` and what its tokens for this "
                    + "gateway have in `aud`"
            ]),
        Mistake(
            "a discovery of yes",
            replace: "{jwks_file: keys.json}",
            by: "{discovery: yes}",
            problems: [
                "12:27: `discovery` is no address that keys are fetched from; write `true`, or an address that begins "
                    + "with https://; http:// is for this machine only"
            ]),
        Mistake(
            "an unsigned algorithm",
            replace: "[RS256]",
            by: "[none]",
            problems: [
                "11:22: unsigned tokens are never accepted; write `algorithms: [RS256]`, or what "
                    + "else the issuer signs with"
            ]),
        Mistake(
            "an algorithm in lower case",
            replace: "[RS256]",
            by: "[rs256]",
            problems: [
                "11:22: unknown algorithm `rs256`, did you mean `RS256`?; write `RS256`"
            ]),
        Mistake(
            "two kinds of algorithms",
            replace: "[RS256]",
            by: "[RS256, HS256]",
            problems: [
                "11:9: HS algorithms stand beside algorithms with key pairs; write two issuers, one for each kind"
            ]),
        Mistake(
            "a secret under a key pair's algorithm",
            replace: "{jwks_file: keys.json}",
            by: "{hmac_secret: {file: crlf.secret}}",
            problems: [
                "12:29: `hmac_secret` is given but no HS algorithm is; write `algorithms: [HS256]`"
            ]),
        Mistake(
            "a public key under a secret's algorithm",
            replace: "[RS256]",
            by: "[HS256]",
            problems: [
                "12:27: HS algorithms need a shared secret, not a public key; write `hmac_secret:` "
                    + "with a secret of 32 bytes or more"
            ]),
        Mistake(
            "a secret that is too short",
            replace: "[RS256]\n        keys: {jwks_file: keys.json}",
            by: "[HS256]\n        keys: {hmac_secret: {env: SHORT}}",
            problems: [
                "12:29: `hmac_secret` from environment variable SHORT has 16 bytes, the algorithms "
                    + "need 32; put a random secret of 32 bytes or more there"
            ]),
        Mistake(
            "a literal secret",
            replace: "[RS256]\n        keys: {jwks_file: keys.json}",
            by: "[HS256]\n        keys: {hmac_secret: sk-canary-literal-sk-canary-literal}",
            problems: [
                "12:29: `hmac_secret` is written into the file, where secrets never stand; write "
                    + "`{env: NAME}` or `{file: PATH}`"
            ]),
        Mistake(
            "a secret everybody may read",
            replace: "[RS256]\n        keys: {jwks_file: keys.json}",
            by: "[HS256]\n        keys: {hmac_secret: {file: open.secret}}",
            problems: [
                "12:36: warning: `hmac_secret` stands in open.secret, which every account of this "
                    + "machine may read; run `chmod o-r` on it"
            ]),
        Mistake(
            "a private key",
            replace: "jwks_file: keys.json",
            by: "pem_file: private.pem",
            problems: [
                "12:26: `pem_file` holds a private key: `private.pem`; write the path of the "
                    + "public key, and keep the private one away from this machine"
            ]),
        Mistake(
            "a file without PEM",
            replace: "jwks_file: keys.json",
            by: "pem_file: text.txt",
            problems: [
                "12:26: `pem_file` does not hold PEM: `text.txt`; write the path of a PEM file"
            ]),
        Mistake(
            "a key set that is no JSON",
            replace: "keys.json",
            by: "text.txt",
            problems: [
                "12:27: `jwks_file` does not hold a JSON object: `text.txt`; save the issuer's key "
                    + "set there, {\"keys\": […]}"
            ]),
        Mistake(
            "another name for the address of keys",
            replace: "jwks_file: keys.json",
            by: "jwks_uri: https://id.example.test/keys",
            problems: ["12:16: the address of a key set is called `jwks_url` here; write `jwks_url: URL`"]),
        Mistake(
            "keys fetched without encryption",
            replace: "jwks_file: keys.json",
            by: "jwks_url: \"http://id.example.test/keys\"",
            problems: [
                "12:26: `jwks_url` is no address that keys are fetched from; write an address that begins with "
                    + "https://; http:// is for this machine only"
            ]),
        Mistake(
            "fetched keys beside others",
            replace: "{jwks_file: keys.json}",
            by: "[{jwks_file: keys.json}, {discovery: true}]",
            problems: [
                "12:52: keys that are fetched stand beside other keys; write one `jwks_url` or `discovery` and "
                    + "nothing else"
            ]),
        Mistake(
            "metadata of an issuer that is no address",
            replace:
                "issuer: https://id.example.test\n        audience: gw\n        algorithms: [RS256]\n        keys: {jwks_file: keys.json}",
            by: "issuer: main\n        audience: gw\n        algorithms: [RS256]\n        keys: {discovery: true}",
            problems: [
                "12:27: the issuer is no https address, so its metadata cannot be found from it; write "
                    + "`discovery: URL` and the address of its metadata"
            ]),
        Mistake(
            "options of fetched keys at a file",
            replace: "{jwks_file: keys.json}",
            by: "{jwks_file: keys.json, cooldown: 10s}",
            problems: ["12:38: only keys that are fetched have `cooldown`; remove it"]),
        Mistake(
            "no key source",
            replace: "{jwks_file: keys.json}",
            by: "{}",
            problems: [
                "12:15: a key source says no place; write `keys: {jwks_url: URL}`, or discovery, "
                    + "jwks_file, pem_file or hmac_secret, each as an item of its own"
            ]),
        Mistake(
            "too much leeway",
            replace: "        audience: gw",
            by: "        audience: gw\n        leeway: 1d",
            problems: [
                "11:17: `leeway` is 1d, out of range; write a duration with its unit from 0s to "
                    + "1m, such as 250ms, 30s, 5m, 1h or 1d"
            ]),
        Mistake(
            "a plan claim to no plan",
            replace: "        audience: gw",
            by: "        audience: gw\n        plan_claim: {path: plan, values: {gold: por}}",
            problems: [
                "11:49: there is no plan `por`; write one of `free` or define it under `plans`"
            ]),
        Mistake(
            "an empty step in a claim's path",
            replace: "        audience: gw",
            by: "        audience: gw\n        claim: {path: app..org, value: acme}",
            problems: [
                "11:23: `path` is `app..org`, which is no path of a claim; write `path: app.plan`, "
                    + "or a list of names when one holds a dot"
            ]),
        Mistake(
            "a guest issuer without plan and secret",
            replace: "        audience: gw",
            by: "        audience: gw\n        guest: true",
            problems: [
                "9:9: an issuer of guests needs a plan for them; write `guest_plan:` in the tenant",
                "11:9: Askgate issues the tokens of guests itself and needs a secret to sign them; "
                    + "write `keys: {hmac_secret: {env: NAME}}` and `algorithms: [HS256]`",
            ]),
        Mistake(
            "settings of guests at an issuer of accounts",
            replace: "        audience: gw",
            by: "        audience: gw\n        sessions_per_minute: 5\n        name_secret: {env: MAIN_KEY}",
            problems: [
                "11:9: only an issuer of guests has a `sessions_per_minute`; remove it or write `guest: true`",
                "12:9: only an issuer of guests has a `name_secret`; remove it or write `guest: true`",
            ]),
        Mistake(
            "a claim and a short secret of guests",
            replace: "        algorithms: [RS256]\n        keys: {jwks_file: keys.json}",
            by: "        algorithms: [HS256]\n        keys: {hmac_secret: {env: ASKGATE_DEVELOPMENT_SECRET}}\n"
                + "        guest: true\n        claim: {path: a, value: b}\n        name_secret: {env: SHORT_NAMES}",
            problems: [
                "9:9: an issuer of guests needs a plan for them; write `guest_plan:` in the tenant",
                "14:9: tokens of guests are Askgate's own and need no `claim`; remove it",
                "15:9: `name_secret` from environment variable SHORT_NAMES has fewer than 16 bytes; "
                    + "put a random secret of 32 bytes there",
            ]),
        Mistake(
            "an issuer twice",
            replace: "      - issuer: https://id.example.test",
            by: "      - {issuer: https://id.example.test, audience: [x, gw], algorithms: [RS256], "
                + "keys: {jwks_file: keys.json}}\n      - issuer: https://id.example.test",
            problems: [
                "10:9: tokens of `https://id.example.test` could also belong to tenant `acme` "
                    + "(line 9); write another `audience`, or a `claim` with one path and different "
                    + "values at both"
            ]),
    ]
}
