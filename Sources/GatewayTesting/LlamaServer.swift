import GatewayTypes
import Glibc

/// A real model behind a real OpenAI-compatible server: llama.cpp with SmolLM2-135M, on a free loopback port.
///
/// Runs from the Python environment that `Scripts/setup --tests` makes.
package final class LlamaServer: Sendable {
    package enum Failure: Error {
        case notReady(String)
    }

    package let port: UInt16
    private let child: ChildProcess

    /// The base URL of an openai provider in a configuration.
    package var baseURL: String { "http://127.0.0.1:\(self.port)/v1" }

    /// The Python interpreter of the environment: `ASKGATE_PYTHON`, or the one `Scripts/setup` made.
    package static var python: String {
        getenv("ASKGATE_PYTHON").map { String(cString: $0) } ?? ".build/venv/bin/python"
    }

    /// Whether the environment is there.
    package static var isInstalled: Bool { access(self.python, X_OK) == 0 }

    /// Starts the server and waits until the model is loaded.
    package init() throws {
        self.child = try ChildProcess(Self.python, ["Scripts/llama-server.py"])
        let child = self.child
        var port: UInt16?
        _ = Stopwatch.wait(upTo: .seconds(60), every: 50) {
            port = child.standardOutput.split(separator: "\n").first.flatMap { UInt16($0) }
            return port != nil || !child.isRunning
        }
        guard let port else {
            child.signal(SIGKILL)
            throw Failure.notReady(child.standardError)
        }
        self.port = port
    }

    deinit { self.child.signal(SIGKILL) }
}
