/// What `serve --development` shows when it is ready.
enum Greeting {
    static func text(api: String, admin: String?, token: String) -> String {
        let text =
            "The northern plant shipped 4,120 units in May, 9 percent over plan. The southern plant lost six days to "
            + "a failed press and shipped 2,870. Spare parts are due on 12 June."
        return """
            Askgate \(Program.version) answers at http://\(api)\(admin.map { ", operators at http://\($0)" } ?? "")

            An answer in one piece:

            curl http://\(api)/api/process -H 'Content-Type: application/json' \
            -H 'Authorization: Bearer \(token)' \
            -d '{"task":"summarize","text":"\(text)"}'

            The same, streamed:

            curl -N http://\(api)/api/process -H 'Content-Type: application/json' \
            -H 'Authorization: Bearer \(token)' \
            -d '{"task":"rewrite","tone":"friendly","stream":true,"text":"\(text)"}'

            """
    }
}
