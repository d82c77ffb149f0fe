import GatewayTesting
import GatewayTypes
import JOSE
import JSON
import Testing

/// What the program says and does where somebody began with it, or slipped.
@Suite("Command line", .oneOfFewThreads)
struct CommandLineTests {
    private func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> (code: Int?, output: String, errors: String) {
        let quiet = ["ASKGATE_ADMIN_URL": "http://127.0.0.1:1", "ASKGATE_OPERATOR_TOKEN": ""]
        return try ChildProcess.run(
            GatewayProcess.binary(), arguments, environment: quiet.merging(environment) { $1 })
    }

    /// A folder with a configuration and what it names.
    private func folder(_ settings: GatewaySettings, api: UInt16, admin: UInt16) throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder()
        try folder.write("acme.json", Issuers.jwks)
        try folder.write("borealis.secret", Issuers.secret)
        let yaml = settings.yaml(api: api, admin: admin, provider: "http://127.0.0.1:1/v1")
        return (folder, try folder.write("askgate.yaml", yaml))
    }

    @Test(arguments: ["3651d", "200000d", "999999d", "9223372036854775807s", "0s", "-1s", "d", ""])
    func `A duration that is none, or too long, is told`(duration: String) throws {
        let end = try self.run("token", "--lifetime", duration)
        #expect(end.code == 2 && end.errors.contains("--lifetime"), "\(end)")
    }

    // MARK: Start

    @Test(arguments: [("missing/x.log", "there is no such folder"), ("", "it is a folder")])
    func `A log that cannot be written is told with its place`(file: String, reason: String) throws {
        let base = try TemporaryFolder()
        let log = "\(base.path)/\(file)"
        let settings = GatewaySettings.with { $0.accessLog = "{file: \(log)}" }
        let (folder, path) = try self.folder(settings, api: 18080, admin: 19090)
        for arguments in [["check", path], ["serve", "--config", path]] {
            let end = try ChildProcess.run(
                GatewayProcess.binary(), arguments, environment: ["TEST_PROVIDER_KEY": "x"], within: .seconds(10))
            #expect(end.code == 1)
            #expect(end.errors.contains("\(path):6:22: access records cannot go to"), "\(end.errors)")
            #expect(end.errors.contains(reason))
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `A log that only shows itself to be unusable when it is opened is told in words`() throws {
        let base = try TemporaryFolder()
        _ = try ChildProcess.run("mkfifo", ["\(base.path)/log"])
        let settings = GatewaySettings.with { $0.accessLog = "{file: \(base.path)/log}" }
        let (folder, path) = try self.folder(settings, api: 18080, admin: 19090)
        let end = try self.run("serve", "--config", path, environment: ["TEST_PROVIDER_KEY": "x"])
        #expect(end.code == 1)
        #expect(end.errors.contains("log.access: cannot open \(base.path)/log: it is a pipe that nobody reads"))
        withExtendedLifetime(folder) {}
    }

    @Test func `A port that is taken is told with its listener`() throws {
        let (listener, taken) = try TestSocket.listen()
        let free = try TestSocket.freePort()
        for (key, api, admin) in [("api", taken, free), ("admin", free, taken)] {
            let (folder, path) = try self.folder(GatewaySettings(), api: api, admin: admin)
            let end = try self.run("serve", "--config", path, environment: ["TEST_PROVIDER_KEY": "x"])
            #expect(end.code == 1)
            #expect(end.errors.contains("listeners.\(key): 127.0.0.1:\(taken) is in use by another program"))
            withExtendedLifetime(folder) {}
        }
        listener.close()
    }

    @Test func `An issuer whose keys fit no algorithm is told where it stands, with what the keys are`() throws {
        let (folder, path) = try self.folder(GatewaySettings(), api: 18080, admin: 19090)
        var yaml = String(decoding: try #require(TemporaryFolder.read(path)), as: UTF8.self)
        yaml.replace("algorithms: [RS256, ES256, EdDSA]", with: "algorithms: [ES256]")
        try folder.write("askgate.yaml", yaml)
        try folder.write("acme.json", Issuers.rsa.jwks)
        let end = try self.run("check", path, environment: ["TEST_PROVIDER_KEY": "x"])
        #expect(end.code == 1)
        let place = try #require(yaml.firstRange(of: "algorithms: [ES256]"))
        let line = yaml[..<place.lowerBound].utf8.count { $0 == 10 } + 1
        let told = "\(path):\(line):9: no key of `\(Issuers.acme)` can be used with `ES256`: there are only RSA keys; "
        #expect(end.errors.hasPrefix(told), "\(end.errors)")
        try folder.write("acme.json", #"{"keys":[]}"#)
        let empty = try self.run("check", path, environment: ["TEST_PROVIDER_KEY": "x"])
        #expect(empty.errors.contains("the file holds no public key"), "\(empty.errors)")
    }

    @Test func `Files of the store's TLS that are none are told by the check, with their key`() throws {
        let settings = GatewaySettings.with { $0.store = "{kind: redis, address: 127.0.0.1, tls: {ca: ca.pem}}" }
        let (folder, path) = try self.folder(settings, api: 18080, admin: 19090)
        try folder.write("ca.pem", "no certificate\n")
        let end = try self.run("check", path, environment: ["TEST_PROVIDER_KEY": "x"])
        #expect(end.code == 1)
        #expect(end.errors.contains("`store.tls.ca` holds no certificate in PEM: `\(folder.path)/ca.pem`"))
        let own = settings.yaml(api: 18080, admin: 19090, provider: "http://127.0.0.1:1/v1")
        try folder.write("askgate.yaml", own.replacing("{ca: ca.pem}", with: "{certificate: ca.pem, key: ca.pem}"))
        let pair = try self.run("check", path, environment: ["TEST_PROVIDER_KEY": "x"])
        #expect(pair.code == 1 && pair.errors.contains("`store.tls.certificate` and `store.tls.key` hold no PEM"))
    }

    // MARK: Development

    /// Starts `serve --development` on free ports, in a new folder.
    private func development() throws -> (child: ChildProcess, folder: TemporaryFolder, port: UInt16) {
        let folder = try TemporaryFolder()
        for _ in 0..<5 {
            let port = try TestSocket.freePort()
            guard port < .max - 1 else { continue }
            let child = try ChildProcess(
                GatewayProcess.binary(),
                ["serve", "--development", "--state", "\(folder.path)/state", "--port", String(port)])
            let isThere = Stopwatch.wait(upTo: .seconds(20)) {
                child.standardOutput.contains("quota show") || !child.isRunning
            }
            if isThere && child.isRunning { return (child, folder, port) }
            child.signal(9)
        }
        throw GatewayProcess.Failure.notReady(code: nil, output: "development")
    }

    @Test func `The development mode has an operator, whose line works as pasted`() throws {
        let (child, folder, port) = try self.development()
        defer { child.signal(15) }
        let mode = try ChildProcess.run("stat", ["-c", "%a", "\(folder.path)/state/operator.token"])
        #expect(mode.output == "600\n")
        #expect(
            Stopwatch.wait(upTo: .seconds(15)) {
                child.standardError.contains("made the token of the operator `developer`: \(folder.path)/state/")
            })
        let ready = { try? self.run("health", "--ready", "--admin", "http://127.0.0.1:\(port + 1)").code }
        #expect(Stopwatch.wait(upTo: .seconds(15)) { ready() == 0 })
        let line = try #require(child.standardOutput.split(separator: "\n").first { $0.contains("quota show") })
        let shown = try ChildProcess.run("sh", ["-c", String(line)])
        #expect(shown.code == 0 && shown.output.contains("plan pro"), "\(line)\n\(shown.errors)")
        // Beside it.
        let second = try self.run("serve", "--development", "--state", "\(folder.path)/b", "--port", String(port))
        #expect(second.errors.contains("listeners.api: 127.0.0.1:\(port) is in use by another program"))
        #expect(second.errors.contains("--port 18080"))
        // What is not the admin listener is said to be none.
        let wrong = try self.run(
            "quota", "show", "--admin", "127.0.0.1:\(port)", environment: ["ASKGATE_OPERATOR_TOKEN": "x"])
        #expect(wrong.code == 1 && wrong.errors.contains("looks like the api listener"), "\(wrong.errors)")
    }

    @Test func `A development token is signed with the secret of the environment`() throws {
        let folder = try TemporaryFolder()
        let state = "\(folder.path)/state"
        let secret = "an-environment-secret-of-32-bytes-or-more"
        let given = try self.run(
            "token", "--state", state, environment: ["ASKGATE_DEVELOPMENT_SECRET": secret])
        #expect(given.code == 0 && given.errors.isEmpty)
        let token = Array(given.output.utf8.dropLast())
        let read = try CompactJWS(parsing: token.span)
        let authenticator = MessageAuthenticator(.sha256, secret: Array(secret.utf8).span)
        let code = authenticator?.code(for: Array(token[..<read.signedByteCount]).span)
        #expect(code == read.signature)
        let short = try self.run("token", "--state", state, environment: ["ASKGATE_DEVELOPMENT_SECRET": "short"])
        #expect(short.code == 2 && short.errors.contains("fewer than 32 bytes"))
        #expect(!short.errors.contains("short\n"))
    }

    @Test func `A signing secret that had to be made is told once, with its place`() throws {
        let folder = try TemporaryFolder()
        let state = "\(folder.path)/state"
        let unset = ["ASKGATE_DEVELOPMENT_SECRET": ""]
        let first = try self.run("token", "--state", state, environment: unset)
        #expect(first.code == 0)
        #expect(first.errors.contains("made the secret that signs development tokens: \(state)/development.secret"))
        #expect(try self.run("token", "--state", state, environment: unset).errors.isEmpty)
    }

    // MARK: Tokens

    @Test func `A token of a key is an access token unless it is told otherwise`() throws {
        let folder = try TemporaryFolder()
        let pem = try #require(PrivateKey.generateRSA()?.privatePEM)
        let key = try folder.write("rsa.pem", pem)
        func type(_ more: [String]) throws -> String? {
            let end = try ChildProcess.run(
                GatewayProcess.binary(),
                ["token", "--key", key, "--algorithm", "RS256", "--issuer", "i", "--audience", "a"] + more)
            let read = try CompactJWS(parsing: Array(end.output.utf8.dropLast()).span)
            return try JSONDocument(parsing: read.header).root["typ"]?.string
        }
        #expect(try type([]) == "at+jwt")
        #expect(try type(["--typ", "JWT"]) == "JWT")
    }

    @Test func `The token of the help text is let in by the defaults`() throws {
        let mint = try #require(PrivateKey.generateRSA())
        let gateway = try TestGateway(.with { $0.acceptedTypes = "[at+jwt]" })
        let folder = gateway.process.folder
        let jwk = try #require(mint.publicJWK(keyID: "own"))
        try folder.write("acme.json", #"{"keys":[\#(jwk)]}"#)
        try gateway.reload(gateway.settings)
        let key = try folder.write("rsa.pem", try #require(mint.privatePEM))
        let end = try self.run(
            "token", "--key", key, "--algorithm", "RS256", "--issuer", Issuers.acme, "--audience",
            Issuers.acmeAudience, "--subject", "zoe")
        let caller = Caller(subject: "zoe", token: String(end.output.dropLast()))
        #expect(try gateway.ask(Ask("typ"), as: caller).status == 200)
    }

    @Test func `Keys that do not fit and options without their key are told in words`() throws {
        let folder = try TemporaryFolder()
        let pem = try #require(PrivateKey.generateRSA()?.privatePEM)
        let key = try folder.write("rsa.pem", pem)
        let unfit = try self.run(
            "token", "--key", key, "--algorithm", "ES256", "--issuer", "i", "--audience", "a")
        #expect(unfit.code == 2 && unfit.errors.contains("needs an unencrypted PEM private key of the curve P-256"))
        let short = try folder.write("short", "sixteen-bytes-ok")
        let few = try self.run("token", "--key", short, "--issuer", "i", "--audience", "a")
        #expect(few.code == 2 && few.errors.contains("HS256 needs a secret of 32 bytes or more"))
        let alone = try self.run("token", "--algorithm", "RS256")
        #expect(alone.code == 2 && alone.errors.contains("--algorithm needs --key FILE"))
    }

    // MARK: Operators

    @Test(arguments: [
        (["show", "demo", "alice", "--reason", "x"], "`quota show` does not take --reason; it takes --plan,"),
        (
            ["block", "demo", "a", "--limit", "x", "--reason", "x"],
            "`quota block` does not take --limit; it takes --reason,"
        ),
        (["reset", "demo", "alice", "--for", "3m"], "`quota reset` does not take --for; it takes --limit, --reason,"),
        (
            ["set", "demo", "alice", "requests_per_minute=1", "tokens_per_day=2", "--reason", "x"],
            "set takes one NAME=QUANTITY"
        ), (["reset", "demo", "alice", "--limit", "a", "--limit", "b"], "--limit stands here twice"),
    ])
    func `An option that a verb does not take is named, with those that it takes`(
        arguments: [String], told: String
    ) throws {
        let end = try ChildProcess.run(
            GatewayProcess.binary(), ["quota"] + arguments, environment: ["ASKGATE_OPERATOR_TOKEN": "x"])
        #expect(end.code == 64)
        #expect(end.errors.contains(told), "\(end.errors)")
    }

    @Test func `An empty token file is said to be empty, an open one is warned of`() throws {
        let folder = try TemporaryFolder()
        let empty = try folder.write("empty", "")
        let end = try self.run("quota", "show", "--token-file", empty)
        #expect(end.code == 64 && end.errors.contains("the file \(empty) is empty"))
        let token = try folder.write("token", "ago_x\n")
        #expect(try !self.run("quota", "show", "--token-file", token).errors.contains("warning"))
        _ = try ChildProcess.run("chmod", ["644", token])
        let open = try self.run("quota", "show", "--token-file", token)
        #expect(open.code == 69 && open.errors.contains("warning: every account of this machine may read"))
    }

    @Test func `A file that a shell made for an operator's token is closed to others`() throws {
        let folder = try TemporaryFolder()
        let end = try ChildProcess.run(
            "sh",
            [
                "-c", #"umask 022 && "$0" operator-token n >"$1" 2>"$1.said" && stat -c %a "$1""#,
                GatewayProcess.binary(), "\(folder.path)/token",
            ])
        #expect(end.output == "640\n", "\(end.errors)")
        // One that holds something else is left as it is.
        let log = try folder.write("log", "line\n")
        let other = try ChildProcess.run(
            "sh",
            [
                "-c", #"chmod 644 "$1" && "$0" operator-token n >>"$1" && stat -c %a "$1""#, GatewayProcess.binary(),
                log,
            ])
        #expect(other.output == "644\n" && other.errors.contains("warning: every account"), "\(other)")
    }

    @Test func `Health and quota take the same places`() throws {
        let gateway = try TestGateway()
        let place = "127.0.0.1:\(gateway.process.adminPort)"
        for url in [place, "http://\(place)", "http://\(place)/"] {
            #expect(try self.run("health", "--admin", url).code == 0)
            #expect(try self.run("health", environment: ["ASKGATE_ADMIN_URL": url]).code == 0)
        }
        #expect(try self.run("health").code == 1)
        #expect(try self.run("health", environment: ["ASKGATE_ADMIN_URL": "ftp://x"]).code == 2)
    }
}
