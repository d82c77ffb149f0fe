extension Mistake {
    static let tenants: [Mistake] = [
        Mistake(
            "an unknown zone",
            replace: "default_plan: free",
            by: "default_plan: free\n    zone: Asia/Teheran",
            problems: [
                "8:11: there is no zone `Asia/Teheran`, did you mean `Asia/Tehran`?; write an IANA "
                    + "name such as Asia/Tehran or UTC"
            ]),
        Mistake(
            "a zone that is an offset",
            replace: "default_plan: free",
            by: "default_plan: free\n    zone: GMT+3",
            problems: [
                "8:11: there is no zone `GMT+3`; write an IANA name such as Asia/Tehran or UTC"
            ]),
        Mistake(
            "an unknown default plan",
            replace: "default_plan: free",
            by: "default_plan: fre",
            problems: [
                "7:19: there is no plan `fre`, did you mean `free`?; write `free` or define it under `plans`"
            ]),
        Mistake(
            "no default plan",
            replace: "    default_plan: free\n",
            by: "",
            problems: [
                "7:5: a tenant has no `default_plan`; write `default_plan:` and the name of one of its plans"
            ]),
        Mistake(
            "a kept answer larger than all together",
            replace: "default_plan: free",
            by: "default_plan: free\n    answer_cache: {bytes: 64KiB, answer_bytes: 1MiB}",
            problems: [
                "8:34: an answer of 1048576 bytes cannot be kept in 65536; write a smaller `answer_bytes` or a larger "
                    + "`bytes`"
            ]),
        Mistake(
            "an unknown guest plan",
            replace: "default_plan: free",
            by: "default_plan: free\n    guest_plan: visitors",
            problems: [
                "8:17: there is no plan `visitors`; write one of `free` or define it under `plans`"
            ]),
        Mistake(
            "a bad tenant name",
            replace: "  acme:",
            by: "  Acme Corp:",
            problems: [
                "6:3: a tenant's name is `Acme Corp`; write 1 to 64 letters (a to z), digits, `.`, "
                    + "`_` or `-`, beginning with a letter or digit"
            ]),
    ]
}
