extension Mistake {
    private static let listener = "listeners: {api: {}}\n"
    private static let store = "store: {kind: redis, address: \"redis:6379\"}\n"

    private static func hop(_ title: String, _ internal: String, _ problems: [String]) -> Mistake {
        Mistake(
            title, replace: listener, by: "listeners: {api: {}, internal: \(`internal`)}\n" + store,
            problems: problems)
    }

    static let hops: [Mistake] = [
        hop(
            "an internal listener without a secret", "{address: 10.0.0.7}",
            [
                "1:32: the internal listener has no `secret`; write `secret: {file: PATH}`, the same for all instances"
            ]),
        hop(
            "a secret that is written into the file",
            "{address: 10.0.0.7, secret: canary-literal-secret-of-32-bytes-long}",
            [
                "1:60: the secret of the internal listener is written into the file, where secrets never stand; "
                    + "write `{env: NAME}` or `{file: PATH}`"
            ]),
        hop(
            "a secret that is too short", "{address: 10.0.0.7, secret: [{env: HOP_SECRET}, {env: SHORT}]}",
            [
                "1:80: the secret of the internal listener from environment variable SHORT has 16 bytes, fewer than 32; "
                    + "put a random secret of 32 bytes or more there"
            ]),
        hop(
            "three secrets", "{address: 10.0.0.7, secret: [{env: HOP_SECRET}, {env: HOP_SECRET}, {env: HOP_SECRET}]}",
            ["1:99: there are more than 2 secrets; write the one that signs and the one before it"]),
        hop(
            "no secret in the list", "{address: 10.0.0.7, secret: []}",
            ["1:60: `secret` is an empty list; write `secret: {file: PATH}`, the same for all instances"]),
        hop(
            "every address and none to tell", "{address: 0.0.0.0, port: 8090, secret: {env: HOP_SECRET}}",
            [
                "1:33: the internal listener is bound to every address, so that none can be told to the other "
                    + "instances; write `advertise: HOST:8090` with the name or address by which they reach this one"
            ]),
        hop(
            "an address that other machines do not reach", "{secret: {env: HOP_SECRET}}",
            [
                "1:32: warning: the internal listener is bound to 127.0.0.1, which instances on other machines do not "
                    + "reach; write `address:` with an address of the network that the instances share, or `advertise`"
            ]),
        hop(
            "an advertised host without its port", "{advertise: gw-1.internal, secret: {env: HOP_SECRET}}",
            [
                "1:44: `advertise` is `gw-1.internal`, which is not a host with a port; write the host and the port "
                    + "by which other instances reach this one, such as 10.0.0.7:8081"
            ]),
        hop(
            "an advertised URL", "{advertise: \"http://gw-1:8081\", secret: {env: HOP_SECRET}}",
            [
                "1:44: `advertise` is `http://gw-1:8081`, which is not a host with a port; write the host and the port "
                    + "by which other instances reach this one, such as 10.0.0.7:8081"
            ]),
        hop(
            "an advertised port out of range", "{advertise: \"gw-1:70000\", secret: {env: HOP_SECRET}}",
            [
                "1:44: `advertise` is `gw-1:70000`, which is not a host with a port; write the host and the port "
                    + "by which other instances reach this one, such as 10.0.0.7:8081"
            ]),
        hop(
            "an advertised address that is none", "{advertise: \"0.0.0.0:8081\", secret: {env: HOP_SECRET}}",
            [
                "1:44: `advertise` is `0.0.0.0:8081`, which reaches nobody; write the host and the port "
                    + "by which other instances reach this one, such as 10.0.0.7:8081"
            ]),
        hop(
            "the port of another listener", "{advertise: \"gw:1\", port: 8080, secret: {env: HOP_SECRET}}",
            ["1:22: the internal listener takes the port of the api listener, 8080; write another port"]),
        hop(
            "TLS, and a word that is unknown",
            "{address: 10.0.0.7, tls: true, adress: 10.0.0.1, secret: {env: HOP_SECRET}}",
            [
                "1:52: this program does not end TLS itself; remove it and put a proxy that ends TLS in front of "
                    + "the listener",
                "1:63: unknown key `adress` in the internal listener, did you mean `address`?; "
                    + "write `address` or remove it",
            ]),
        Mistake(
            "an internal listener beside a store in memory", replace: listener,
            by: "listeners: {api: {}, internal: {address: 10.0.0.7, secret: {env: HOP_SECRET}}}\n",
            problems: [
                "1:22: the internal listener serves instances that share a store, and this one's is memory; "
                    + "write `store: {kind: redis}` with its address, or remove `internal`"
            ]),
    ]
}
