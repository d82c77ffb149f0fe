package import GatewayTypes
import Glibc

/// A running gateway: the real binary with a configuration of the test's own, on free ports of the loopback.
package final class GatewayProcess: Sendable {
    /// Why a gateway could not be used.
    package enum Failure: Error {
        case noBinary(String)
        case system(SystemFailure)
        /// It ended, or was not ready in time; with what it printed.
        case notReady(code: Int?, output: String)
    }

    package let child: ChildProcess
    package let folder: TemporaryFolder
    package let port: UInt16
    package let adminPort: UInt16
    package let configurationPath: String

    /// Starts the binary and waits until it is ready.
    /// - Parameters:
    ///   - folder: where the configuration is written, as `askgate.yaml`; files it names are there already.
    ///   - configuration: the YAML, given the ports of the api and the admin listener.
    ///   - environment: added to the test's own.
    ///   - waitsFor: what has to answer 200 at the admin listener.
    package init(
        in folder: TemporaryFolder, environment: [String: String] = [:], waitsFor: String = "/readyz",
        configuration: (_ api: UInt16, _ admin: UInt16) -> String
    ) throws(Failure) {
        self.folder = folder
        var begun: Begun
        var tries = 0
        repeat {
            tries += 1
            begun = try Self.begin(in: folder, environment, waitsFor, configuration)
            // Another process may take a port that was free a moment ago.
        } while tries < 3 && !begun.isReady && begun.output.contains("is in use by another")
        (self.child, self.port, self.adminPort) = (begun.child, begun.port, begun.adminPort)
        self.configurationPath = begun.path
        guard begun.isReady else {
            begun.child.signal(SIGKILL)
            throw .notReady(code: begun.child.exitCode, output: begun.output)
        }
    }

    /// One start of the binary, which may have come to nothing.
    private struct Begun {
        var child: ChildProcess
        var port: UInt16
        var adminPort: UInt16
        var path: String
        var isReady = false
        var output: String { self.child.standardOutput + self.child.standardError }
    }

    private static func begin(
        in folder: TemporaryFolder, _ environment: [String: String], _ target: String,
        _ configuration: (_ api: UInt16, _ admin: UInt16) -> String
    ) throws(Failure) -> Begun {
        let binary = try Self.binary()
        let (port, adminPort): (UInt16, UInt16)
        do throws(SocketFailure) {
            (port, adminPort) = (try TestSocket.freePort(), try TestSocket.freePort())
        } catch {
            throw .notReady(code: nil, output: "no free port: \(error)")
        }
        var begun: Begun
        do throws(SystemFailure) {
            let path = try folder.write("askgate.yaml", configuration(port, adminPort))
            let child = try ChildProcess(binary, ["serve", "--config", path], environment: environment)
            begun = Begun(child: child, port: port, adminPort: adminPort, path: path)
        } catch {
            throw .system(error)
        }
        begun.isReady =
            Stopwatch.wait(upTo: .seconds(20)) {
                Self.get(target, adminPort)?.status == 200 || !begun.child.isRunning
            } && begun.child.isRunning
        return begun
    }

    deinit { self.child.signal(SIGKILL) }

    /// The path of the binary: `ASKGATE_BINARY`, or what was built beside the running tests.
    package static func binary() throws(Failure) -> String {
        if let named = getenv("ASKGATE_BINARY") { return String(cString: named) }
        for path in [Self.besideTests, ".build/debug/askgate", ".build/release/askgate"] where access(path, X_OK) == 0 {
            return path
        }
        throw .noBinary("no askgate beside the tests or in .build; build it or set ASKGATE_BINARY")
    }

    /// Tests are loaded from the build folder, where the program lies too.
    private static var besideTests: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, 4095)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            + "/askgate"
    }

    /// One call at the admin listener; nil when nobody answers.
    package func admin(_ target: String) -> HTTPResponse? { Self.get(target, self.adminPort) }

    private static func get(_ target: String, _ port: UInt16) -> HTTPResponse? {
        guard let client = try? RawClient(port: port, limit: .seconds(5)) else { return nil }
        try? client.request("GET", target, headers: [("Connection", "close")])
        return (try? client.response()).flatMap { $0 }
    }

    package var isReady: Bool { self.admin("/readyz")?.status == 200 }
    package var metrics: MetricsPage { MetricsPage(self.admin("/metrics")?.text ?? "") }

    /// Access records that have been written so far, as JSON lines.
    package var records: [RecordLine] { RecordLine.lines(of: self.child.standardOutput) }

    /// The access record of a request, waited for; nil when it does not come in time.
    package func record(of requestID: String?, within limit: TimeSpan = .seconds(5)) -> RecordLine? {
        var found: RecordLine?
        _ = Stopwatch.wait(upTo: limit, every: 20) {
            found = self.records.first { requestID != nil && $0.requestID == requestID }
            return found != nil
        }
        return found
    }

    /// Everything the process has written anywhere a test can look: both streams and the metrics page.
    package var everySink: String {
        self.child.standardOutput + self.child.standardError + (self.admin("/metrics")?.text ?? "")
    }

    /// Writes the configuration anew and asks for a reload.
    package func reload(_ configuration: String) throws(SystemFailure) {
        try self.folder.write("askgate.yaml", configuration)
        self.child.signal(SIGHUP)
    }

    /// Asks for an orderly end and waits for it; the exit code, nil when it does not end in time.
    @discardableResult
    package func stop(within limit: TimeSpan = .seconds(35)) -> Int? {
        self.child.signal(SIGTERM)
        let code = self.child.waitForExit(within: limit)
        if code == nil { self.child.signal(SIGKILL) }
        return code
    }
}
