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
        self.port = try port ?? TestSocket.freePort()
        self.tlsPort = certificate == nil ? 0 : try TestSocket.freePort()
        let folder = try TemporaryFolder()
        self.folder = folder
        for (name, text) in files { try folder.write(name, text) }
        var arguments = mode.map { $0.hasPrefix("-") ? $0 : "\(folder.path)/\($0)" }
        arguments += ["--port", "\(self.port)", "--bind", "127.0.0.1", "--dir", folder.path]
        if mode.isEmpty { arguments += ["--save", "", "--appendonly", "no"] }
        if let certificate {
            arguments += [
                "--tls-port", "\(self.tlsPort)", "--tls-cert-file", certificate.certificate, "--tls-key-file",
                certificate.key, "--tls-ca-cert-file", certificate.authority,
            ]
        }
        self.arguments = arguments + options
        self.process = Mutex(try ChildProcess("redis-server", self.arguments))
        try self.waitUntilUp()
    }

    deinit { self.process.withLock { $0.signal(SIGKILL) } }

    private func waitUntilUp() throws {
        let isUp = Stopwatch.wait(upTo: .seconds(20), every: 10) {
            guard let probe = try? RedisProbe(port: self.port), let answer = try? probe.call("PING") else {
                return false
            }
            if case .error(let text) = answer { return text.hasPrefix("NOAUTH") }
            return true
        }
        guard isUp else { throw NotStarted(output: self.process.withLock { $0.standardOutput }) }
    }

    package func probe() throws -> RedisProbe { try RedisProbe(port: self.port) }

    /// One command on a connection of its own.
    @discardableResult
    package func call(_ words: String...) throws -> RedisAnswer { try self.probe().call(words) }

    /// Ends the process at once, and waits until it is gone.
    package func kill() {
        let process = self.process.withLock { $0 }
        process.signal(SIGCONT)
        process.signal(SIGKILL)
        _ = process.waitForExit(within: .seconds(10))
    }

    /// Starts it anew on the same port, empty.
    package func restart() throws {
        let process = try ChildProcess("redis-server", self.arguments)
        self.process.withLock { $0 = process }
        try self.waitUntilUp()
    }

    /// Stops it in its tracks: the kernel goes on to accept connections and bytes for it.
    package func pause() { self.process.withLock { $0.signal(SIGSTOP) } }
    package func resume() { self.process.withLock { $0.signal(SIGCONT) } }

    /// Bytes of memory that its process holds.
    package var residentMemory: Int { self.process.withLock { $0.residentMemory } }
}
