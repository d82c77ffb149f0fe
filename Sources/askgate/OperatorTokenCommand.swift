import Glibc
import JOSE

/// `askgate operator-token`: makes a token for an operator and shows what the configuration needs of it.
enum OperatorTokenCommand {
    static func run(_ options: inout Options) throws(UsageFailure) -> Int32 {
        let role = try options.value("--role") ?? "operator"
        guard let name = options.next() else {
            try options.finish()
            throw UsageFailure("operator-token needs the operator's name")
        }
        try options.finish()
        guard role == "viewer" || role == "operator" else {
            throw UsageFailure("--role is viewer or operator")
        }
        let isName =
            !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x2D || byte == 0x2E || byte == 0x5F
            }
        guard isName else { throw UsageFailure("an operator's name is letters, digits, `.`, `_` and `-`") }
        let token = self.token()
        self.closeOutputToOthers()
        Terminal.show(token)
        Terminal.complain(
            """
            The token is shown this once: keep it where ASKGATE_OPERATOR_TOKEN or --token-file takes it from.
            Write into the configuration, below `operators:`, and reload:

              \(name): {role: \(role), token_sha256: \(self.digest(of: token))}
            """)
        return 0
    }

    /// A shell's `>` makes files that every account may read, which a token must not lie in.
    private static func closeOutputToOthers() {
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & S_IROTH != 0
        else { return }
        // A file that holds something else is not ours to close.
        let isNew = status.st_size == 0 && fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND == 0
        if isNew, fchmod(STDOUT_FILENO, status.st_mode & 0o7770) == 0 { return }
        Terminal.complain("askgate: warning: every account of this machine may read the file that the token goes to")
    }

    /// 256 random bits behind a prefix that scanners for leaked secrets can look for.
    static func token() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return "ago_" + String(decoding: Base64URL.encode(bytes.span), as: UTF8.self)
    }

    /// Lower-case hexadecimal digits of its SHA-256.
    static func digest(of token: String) -> String {
        SHA256Digest(of: Array(token.utf8).span).bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
