import Glibc
import Synchronization

/// A shell that kills what tests have started once the test run is gone, however it went.
///
/// It reads from a pipe whose other end the test run alone holds: the end of that pipe is the end of the run.
enum Watchdog {
    private static let script = """
        trap '' HUP INT TERM
        while read -r sign pid; do
            others=
            for other in $pids; do [ "$other" = "$pid" ] || others="$others $other"; done
            pids=$others
            [ "$sign" = + ] && pids="$pids $pid"
        done
        [ -z "$pids" ] || kill -9 $pids
        """

    /// Where the shell is told what runs; nil before the first child.
    private static let line = Mutex<Int32?>(nil)

    /// Starts the shell, once.
    static func start() throws(SystemFailure) {
        let failure = self.line.withLock { line -> SystemFailure? in
            guard line == nil else { return nil }
            do throws(SystemFailure) {
                line = try self.spawn()
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    static func add(_ pid: pid_t) { self.say("+ \(pid)\n") }
    static func remove(_ pid: pid_t) { self.say("- \(pid)\n") }

    private static func say(_ text: String) {
        self.line.withLock { line in
            guard let line else { return }
            let bytes = Array(text.utf8)
            _ = write(line, bytes, bytes.count)
        }
    }

    private static func spawn() throws(SystemFailure) -> Int32 {
        let pipe = try Pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe.read, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // Above all its own end of the pipe, or it would wait for itself.
        ChildProcess.closeInherited(&actions)
        var pid = pid_t()
        let result = ChildProcess.withStrings(["sh", "-c", self.script]) { arguments in
            posix_spawnp(&pid, "sh", &actions, nil, arguments, environ)
        }
        close(pipe.read)
        guard result == 0 else { throw SystemFailure(call: "posix_spawn sh", number: result) }
        return pipe.write
    }
}

/// The two ends of a pipe; not closed by themselves.
struct Pipe {
    var read: Int32
    var write: Int32

    init() throws(SystemFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFailure(call: "pipe", number: errno) }
        (self.read, self.write) = (ends[0], ends[1])
    }
}
