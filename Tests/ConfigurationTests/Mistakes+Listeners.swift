extension Mistake {
    static let listeners: [Mistake] = [
        Mistake(
            "proxies that are no addresses",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nhttp: {trusted_proxies: [10.0.0.0/8, lb.internal, 10.0.0.1/8], "
                + "failed_authentications: -1}",
            problems: [
                "2:38: `lb.internal` is no network address, or has bits behind its prefix; "
                    + "write addresses or ranges, such as [10.0.0.0/8, \"2001:db8::/32\"]",
                "2:51: `10.0.0.1/8` is no network address, or has bits behind its prefix; "
                    + "write addresses or ranges, such as [10.0.0.0/8, \"2001:db8::/32\"]",
                "2:88: `failed_authentications` is `-1`, which is not a plain whole number; write a whole number from 0 to 1000000",
            ]),
        Mistake(
            "no listener",
            replace: "listeners: {api: {}}",
            by: "listeners: {}",
            problems: [
                "1:12: there is no listener; write `api: {address: 127.0.0.1, port: 8080}`"
            ]),
        Mistake(
            "listeners left out",
            replace: "listeners: {api: {}}\n",
            by: "",
            problems: [
                "1:1: the configuration has no `listeners`; write `listeners:` and below it `api: "
                    + "{address: 127.0.0.1, port: 8080}`"
            ]),
        Mistake(
            "one port for both listeners",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {port: 80}, admin: {port: 80}}",
            problems: [
                "1:30: the admin listener takes the port of the api listener, 80; write another port"
            ]),
        Mistake(
            "one port under every address",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {port: 80, address: 0.0.0.0}, admin: {port: 80}}",
            problems: [
                "1:48: the admin listener takes the port of the api listener, 80; write another port"
            ]),
        Mistake(
            "a port out of range",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {port: 65536}}",
            problems: [
                "1:25: the port is 65536, out of range; write a whole number from 0 to 65535"
            ]),
        Mistake(
            "a port in another notation",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {port: 0x50}}",
            problems: [
                "1:25: the port is `0x50`, which is not a plain whole number; write a whole number from 0 to 65535"
            ]),
        Mistake(
            "a host name as address",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {address: localhost}}",
            problems: [
                "1:28: the address is `localhost`, which is not an IP address; write an IP "
                    + "address, such as 127.0.0.1, 0.0.0.0 or ::1"
            ]),
        Mistake(
            "a listener with TLS",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {tls: {}}}",
            problems: [
                "1:19: this program does not end TLS itself; remove it and put a proxy that ends "
                    + "TLS in front of the listener"
            ]),
        Mistake(
            "no loop",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nloops: 0",
            problems: [
                "2:8: `loops` is 0, out of range; write a whole number from 1 to 256"
            ]),
        Mistake(
            "an exponent",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nloops: 1e1",
            problems: [
                "2:8: `loops` is `1e1`, which is not a plain whole number; write a whole number from 1 to 256"
            ]),
        Mistake(
            "an octal number",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nloops: 010",
            problems: [
                "2:8: `loops` is `010`, which is not a plain whole number; write a whole number from 1 to 256"
            ]),
        Mistake(
            "a Redis that is nowhere",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis}",
            problems: [
                "2:8: `store` says nowhere where Redis is; write `address: HOST:6379`, `sentinel: {master: NAME, addresses: [HOST:26379]}` or `cluster: [HOST:6379]`"
            ]),
        Mistake(
            "a Redis in two places",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis, address: a, cluster: [b]}",
            problems: [
                "2:34: `store` names Redis in more than one way; write `address: HOST:6379`, `sentinel: {master: NAME, addresses: [HOST:26379]}` or `cluster: [HOST:6379]`"
            ]),
        Mistake(
            "a Redis with a scheme",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis, address: \"redis://a\"}",
            problems: [
                "2:31: `address` is `redis://a`, which is no address; write HOST:6379, and an IPv6 address in brackets"
            ]),
        Mistake(
            "a Redis without a port",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis, address: \"a:\"}",
            problems: [
                "2:31: `address` is `a:`, which is no address; write HOST:6379, and an IPv6 address in brackets"
            ]),
        Mistake(
            "a database of a cluster",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis, cluster: [a], database: 1}",
            problems: [
                "2:46: a cluster has no database but 0; remove `database`"
            ]),
        Mistake(
            "a user without password",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis, address: a, user: u}",
            problems: [
                "2:34: there is a `user` and no `password`; write `password: {env: NAME}`"
            ]),
        Mistake(
            "a password in the file",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: redis, address: a, password: p}",
            problems: [
                "2:44: the store's password is written into the file, where secrets never stand; write `{env: NAME}` or `{file: PATH}`"
            ]),
        Mistake(
            "memory with an address",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: memory, address: a}",
            problems: [
                "2:23: the store `memory` has no `address`; remove it, or write `kind: redis`"
            ]),
        Mistake(
            "an unknown store",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nstore: {kind: memroy}",
            problems: [
                "2:15: unknown kind of store `memroy`, did you mean `memory`?; write `memory`"
            ]),
        Mistake(
            "an unknown sink",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nlog: {access: syslog}",
            problems: [
                "2:15: unknown place for access records `syslog`; write one of `stdout`, `stderr`, `none` and `{file: PATH}`"
            ]),
        Mistake(
            "a path where a place belongs",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nlog: {access: /var/log/x}",
            problems: [
                "2:15: unknown place for access records `/var/log/x`; write one of `stdout`, `stderr`, `none` and "
                    + "`{file: PATH}`"
            ]),
        Mistake(
            "a log in no folder",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nlog: {access: {file: /nonexistent/x.log}}",
            problems: [
                "2:22: access records cannot go to `/nonexistent/x.log`: there is no such folder; make the folder or "
                    + "write another path"
            ]),
        Mistake(
            "a duration without unit",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nhttp: {heartbeat: 15}",
            problems: [
                "2:19: `heartbeat` is `15`, which is not a duration; write a duration with its "
                    + "unit from 1s to 5m, such as 250ms, 30s, 5m, 1h or 1d"
            ]),
        Mistake(
            "a duration out of range",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nhttp: {timeouts: {head: 2h}}",
            problems: [
                "2:25: `head` is 2h, out of range; write a duration with its unit from 100ms to "
                    + "1h, such as 250ms, 30s, 5m, 1h or 1d"
            ]),
        Mistake(
            "a size with an unknown unit",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nhttp: {limits: {body_bytes: 1GB}}",
            problems: [
                "2:29: `body_bytes` is `1GB`, which is not a size; write a size from 1024 to "
                    + "67108864 bytes, such as 65536, 64KiB or 1MiB"
            ]),
        Mistake(
            "a body smaller than a text",
            replace: "listeners: {api: {}}",
            by: "listeners: {api: {}}\nhttp: {limits: {body_bytes: 16KiB}}",
            problems: [
                "20:9: a text of 65536 bytes cannot come in a body of 16384; write a smaller "
                    + "`max_bytes` or a larger `http.limits.body_bytes`"
            ]),
    ]
}
