import GatewayTesting
import GatewayTypes
import Glibc

/// A server of providers' formats that others wrote, on a free loopback port; its programs lie in the Python
/// environment of `Scripts/setup --tests`.
final class MockServer: Sendable {
    enum Failure: Error {
        case notReady(String)
    }

    let port: UInt16
    private let child: ChildProcess
    private let folder: TemporaryFolder

    var address: String { "http://127.0.0.1:\(self.port)" }

    /// Whether the environment holds the programs.
    static var isInstalled: Bool { ["llm-katan", "llmock"].allSatisfy { access(self.path(of: $0), X_OK) == 0 } }

    private static func path(of program: String) -> String {
        let python = LlamaServer.python
        let folder = python.utf8.lastIndex(of: 0x2F).map { python[...$0] } ?? ""
        return folder + program
    }

    /// llm-katan, which echoes what it is asked and knows its keys.
    static func katan(key: String) throws -> MockServer {
        try MockServer("llm-katan") { port, folder in
            [
                "--model", "echo", "--backend", "echo", "--host", "127.0.0.1", "--port", String(port),
                "--providers", "openai,anthropic,vertexai,azure_openai", "--validate-keys", "--api-keys",
                ["openai", "anthropic", "vertexai", "azure_openai"].map { "\($0)=\(key)" }.joined(separator: ","),
                "--stats-file", "\(folder)/stats.json",
            ]
        }
    }

    /// llmock, which fails as it is told.
    static func llmock() throws -> MockServer {
        try MockServer("llmock") { port, _ in ["serve", "--host", "127.0.0.1", "--port", String(port)] }
    }

    private init(_ program: String, _ arguments: (_ port: UInt16, _ folder: String) -> [String]) throws {
        let folder = try TemporaryFolder()
        let port = try TestSocket.freePort()
        let child = try ChildProcess(Self.path(of: program), arguments(port, folder.path))
        self.folder = folder
        self.port = port
        self.child = child
        let isUp = Stopwatch.wait(upTo: .seconds(60), every: 100) {
            (try? RawClient(port: port, limit: .seconds(1))) != nil || !child.isRunning
        }
        guard isUp, child.isRunning else {
            child.signal(SIGKILL)
            throw Failure.notReady(child.standardError)
        }
    }

    deinit { self.child.signal(SIGKILL) }

    /// Tells llmock how to answer the next call.
    func expect(_ behaviour: String) throws {
        let client = try RawClient(port: self.port, limit: .seconds(10))
        try client.request(
            "POST", "/_llmock/scenario", headers: [("Content-Type", "application/json")],
            body: Array(#"{"behaviors":[\#(behaviour)]}"#.utf8))
        guard let response = try client.response(), response.status == 201 else {
            throw Failure.notReady("a behaviour was refused")
        }
    }
}
