/// What `serve --development` shows when it is ready.
enum Greeting {
    static func text(api: String, admin: String?, token: String, operatorTokenPath: String) -> String {
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

            Where its user stands, as an operator sees it:

            \(self.quoted(CommandLine.arguments.first ?? "askgate")) quota show demo demo-user --plan pro \
            --token-file \(self.quoted(operatorTokenPath))\(self.place(admin))

            """
    }

    /// The standard address need not be said.
    private static func place(_ admin: String?) -> String {
        guard let admin, admin != "127.0.0.1:9090" else { return "" }
        return " --admin http://\(admin)"
    }

    /// As one word of a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case 0x2B...0x3A, 0x40...0x5A, 0x5F, 0x61...0x7A: byte != 0x2C
            default: false
            }
        }
        return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: #"'\''"#))'"
    }
}
