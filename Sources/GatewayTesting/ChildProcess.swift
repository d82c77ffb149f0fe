package import GatewayTypes
import Glibc
import Synchronization

/// A program that a test started; what it prints is kept, and it does not outlive the test run.
package final class ChildProcess: Sendable {
    package let pid: Int32
    private let output = Mutex<(out: [UInt8], error: [UInt8])>(([], []))
    private let status = Mutex<Int32?>(nil)

    /// Starts a program.
    /// - Parameters:
    ///   - arguments: without the program's own name.
    ///   - environment: added to the test's own; these win.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws(SystemFailure) {
        let (out, error) = (try Pipe(), try Pipe())
        try Watchdog.start()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, out.write, 1)
        posix_spawn_file_actions_adddup2(&actions, error.write, 2)
        Self.closeInherited(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // A child must not inherit a mask or dispositions that the test runner chose.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var pid = pid_t()
        let result = Self.withStrings([program] + arguments) { arguments in
            Self.withStrings(Self.merged(environment)) { environment in
                posix_spawnp(&pid, program, &actions, &attributes, arguments, environment)
            }
        }
        close(out.write)
        close(error.write)
        guard result == 0 else { throw SystemFailure(call: "posix_spawn \(program)", number: result) }
        self.pid = pid
        Watchdog.add(pid)
        OwnThread.start { [self] in
            _ = TemporaryFolder.readAll(out.read) { bytes in self.output.withLock { $0.out += bytes } }
            close(out.read)
        }
        OwnThread.start { [self] in
            _ = TemporaryFolder.readAll(error.read) { bytes in self.output.withLock { $0.error += bytes } }
            close(error.read)
        }
        OwnThread.start { [self] in
            var status: Int32 = 0
            while waitpid(self.pid, &status, 0) < 0 && errno == EINTR {}
            Watchdog.remove(self.pid)
            self.status.withLock { $0 = status }
        }
    }

    /// Runs a program to its end.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        within limit: TimeSpan = .seconds(30)
    ) throws(SystemFailure) -> (code: Int?, output: String, errors: String) {
        let child = try ChildProcess(program, arguments, environment: environment)
        let code = child.waitForExit(within: limit)
        if code == nil { child.signal(SIGKILL) }
        return (code, child.standardOutput, child.standardError)
    }

    package var standardOutput: String { String(decoding: self.output.withLock { $0.out }, as: UTF8.self) }
    package var standardError: String { String(decoding: self.output.withLock { $0.error }, as: UTF8.self) }
    package var isRunning: Bool { self.status.withLock { $0 == nil } }

    /// Exit code, or 128 and the signal's number; nil while it runs.
    package var exitCode: Int? {
        self.status.withLock { status in
            status.map { $0 & 0x7F == 0 ? Int($0 >> 8 & 0xFF) : 128 + Int($0 & 0x7F) }
        }
    }

    /// Waits for the end and for the last output; nil when it does not end in time.
    package func waitForExit(within limit: TimeSpan) -> Int? {
        guard Stopwatch.wait(upTo: limit, until: { !self.isRunning }) else { return nil }
        // The readers see the end of the pipes a moment after the process is gone.
        Stopwatch.sleep(milliseconds: 20)
        return self.exitCode
    }

    package func signal(_ number: Int32) {
        self.status.withLock { status in
            if status == nil { _ = kill(self.pid, number) }
        }
    }

    /// Resident memory in bytes; 0 when the process is gone.
    package var residentMemory: Int {
        guard let status = TemporaryFolder.read("/proc/\(self.pid)/status") else { return 0 }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.utf8.starts(with: "VmRSS:".utf8) }
        return (line.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "0") } ?? 0) * 1024
    }

    /// Processor time that it has used, in milliseconds, to the next ten.
    package var processorTime: Int {
        guard let stat = TemporaryFolder.read("/proc/\(self.pid)/stat") else { return 0 }
        // The name in parentheses may hold spaces; user and system time are the 12th and 13th field behind it.
        let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.dropFirst(11).prefix(2).compactMap { Int($0) }.reduce(0, +)
        return ticks * 1000 / max(1, sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Sockets of tests that run side by side must not stay open in a child: their peers would never hear of the end.
    /// Others open some between this look and the start, which get the lowest numbers that are free.
    static func closeInherited(_ actions: inout posix_spawn_file_actions_t) {
        let highest = self.descriptors(of: "self").max() ?? 2
        for descriptor in 3...(highest + 256) { posix_spawn_file_actions_addclose(&actions, descriptor) }
    }

    /// How many files and sockets it holds open.
    package var openDescriptors: Int { Self.descriptors(of: String(self.pid)).count }

    static func descriptors(of process: String) -> [Int32] {
        TemporaryFolder.names(in: "/proc/\(process)/fd").compactMap { Int32($0) }
    }

    private static func merged(_ added: [String: String]) -> [String] {
        var entries: [String] = []
        var pointer = environ
        while let entry = pointer.pointee {
            let text = String(cString: entry)
            if !added.keys.contains(where: { text.utf8.starts(with: "\($0)=".utf8) }) { entries.append(text) }
            pointer += 1
        }
        return entries + added.map { "\($0.key)=\($0.value)" }
    }

    static func withStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers)
    }
}
