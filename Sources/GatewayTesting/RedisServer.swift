import GatewayTypes
import Glibc
import Synchronization

/// A redis-server process on a port of its own, without persistence; ends with its last reference.
package final class RedisServer: Sendable {
    package struct NotStarted: Error {
        package let output: String
    }

    package let port: UInt16
    /// Where it speaks TLS, when it was given certificates.
    package let tlsPort: UInt16
    /// Its working directory.
    package let folder: TemporaryFolder
    private let arguments: [String]
    private let process: Mutex<ChildProcess>

    /// Starts a server and waits until it answers.
    /// - Parameters:
    ///   - options: as on its command line, each with two dashes.
    ///   - files: written to its folder before it starts, by name.
    ///   - certificate: shown by its TLS port; nil for none.
    ///   - mode: put first on the command line, as sentinels want it: a file of the folder, or an option.
    package init(
        _ options: [String] = [], port: UInt16? = nil, files: [String: String] = [:],
        certificate: RedisCertificates.Pair? = nil, mode: [String] = []
    ) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        for (name, text) in files { try folder.write(name, text) }
        // Another process may take a port that was free a moment ago.
        let started = try Self.again(port == nil ? 3 : 1) {
            let port = try port ?? TestSocket.freePort()
            let tlsPort = certificate == nil ? 0 : try TestSocket.freePort()
            var arguments = mode.map { $0.hasPrefix("-") ? $0 : "\(folder.path)/\($0)" }
            arguments += ["--port", "\(port)", "--bind", "127.0.0.1", "--dir", folder.path]
            if mode.isEmpty { arguments += ["--save", "", "--appendonly", "no"] }
            if let certificate { arguments += certificate.options(port: tlsPort) }
            let process = try Self.start(arguments + options, port: port)
            return (port: port, tlsPort: tlsPort, arguments: arguments + options, process: process)
        }
        self.port = started.port
        self.tlsPort = started.tlsPort
        self.arguments = started.arguments
        self.process = Mutex(started.process)
    }

    deinit { self.process.withLock { $0.signal(SIGKILL) } }

    /// Tries what may fail by bad luck.
    static func again<Value>(_ times: Int = 3, _ body: () throws -> Value) throws -> Value {
        for _ in 1..<times { if let value = try? body() { return value } }
        return try body()
    }

    /// Starts a process and waits until it answers.
    private static func start(_ arguments: [String], port: UInt16) throws -> ChildProcess {
        let process = try ChildProcess("redis-server", arguments)
        var isUp = false
        _ = Stopwatch.wait(upTo: .seconds(20), every: 10) {
            isUp = Self.answers(port)
            return isUp || !process.isRunning
        }
        guard isUp, process.isRunning else {
            process.signal(SIGKILL)
            throw NotStarted(output: process.standardOutput)
        }
        return process
    }

    private static func answers(_ port: UInt16) -> Bool {
        guard let probe = try? RedisProbe(port: port), let answer = try? probe.call("PING") else { return false }
        if case .error(let text) = answer { return text.hasPrefix("NOAUTH") }
        return true
    }

    package func probe() throws -> RedisProbe { try RedisProbe(port: self.port) }

    /// One command on a connection of its own.
    @discardableResult
    package func call(_ words: String...) throws -> RedisAnswer { try self.probe().call(words) }

    /// Ends the process at once, and waits until it is gone.
    package func kill() {
        let process = self.process.withLock { $0 }
        process.signal(SIGKILL)
        _ = process.waitForExit(within: .seconds(10))
    }

    /// Starts it anew on the same port, empty.
    package func restart() throws {
        let process = try Self.again { try Self.start(self.arguments, port: self.port) }
        self.process.withLock { $0 = process }
    }

    /// Stops it in its tracks: the kernel goes on to accept connections and bytes for it.
    package func pause() { self.process.withLock { $0.signal(SIGSTOP) } }
    package func resume() { self.process.withLock { $0.signal(SIGCONT) } }

    /// Bytes of memory that its process holds.
    package var residentMemory: Int { self.process.withLock { $0.residentMemory } }
}
