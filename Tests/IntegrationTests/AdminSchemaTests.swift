import GatewayTesting
import GatewayTypes
import Glibc
import Testing

/// schemathesis, which plays an API by its own document.
private enum Schemathesis {
    /// Beside the interpreter of the environment.
    static var program: String {
        let python = LlamaServer.python
        return (python.lastIndex(of: "/").map { python[...$0] } ?? "") + "schemathesis"
    }

    static var isInstalled: Bool { access(self.program, X_OK) == 0 }

    /// Left out is only the check that whatever fits the schema is accepted: a time may lie in the past, a text may be
    /// no base64url, and schemas cannot say so.
    static let options = [
        "--max-examples", "30", "--seed", "20260321", "--phases", "examples,coverage,fuzzing", "--exclude-checks",
        "positive_data_acceptance", "--generation-database", "none", "--no-color",
    ]
}

@Suite(
    "The document of the admin API", .ownThread,
    .enabled(
        if: Schemathesis.isInstalled || getenv("CI") != nil, "needs the Python environment of Scripts/setup --tests"))
struct AdminSchemaTests {
    @Test(arguments: ["", "[parameters]\n\"path.tenant\" = \"acme\"\n"])
    func `Every answer is as the document says and none is a fault of the server`(parameters: String) throws {
        let gateway = try TestGateway()
        let settings = try gateway.process.folder.write("schemathesis.toml", parameters)
        let url = "http://127.0.0.1:\(gateway.process.adminPort)"
        let target = ["--config-file", settings, "run", "\(url)/admin/v1/openapi.yaml", "--url", url]
        let end = try ChildProcess.run(
            Schemathesis.program,
            target + ["--header", "Authorization: Bearer \(Operators.boss)"] + Schemathesis.options,
            within: .seconds(240))
        #expect(end.code == 0, "\(end.output)\(end.errors)")
        #expect(end.output.contains("Tested: 32"), "\(end.output)")
        #expect(gateway.isAlive && gateway.process.isReady)
    }
}
