import Glibc

/// A pipe that one thread sleeps on and others write to. Never makes the sender wait.
final class WakeSignal: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws(LogFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .cannotStartThread(errno: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        self.reading = ends[0]
        self.writing = ends[1]
    }

    deinit {
        close(self.reading)
        close(self.writing)
    }

    /// Wakes the sleeper, or spares it the next sleep. A full pipe has woken it already.
    func send() {
        var byte: UInt8 = 1
        _ = write(self.writing, &byte, 1)
    }

    /// Sleeps until a signal or for as long as said; a signal of the process may end it early.
    ///
    /// - Returns: whether a signal came.
    @discardableResult
    func wait(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: self.reading, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(self.reading, buffer.baseAddress, buffer.count) == buffer.count {}
        }
        return true
    }
}
