import Synchronization

/// Lines that wait for their writer, bounded in bytes and lines.
///
/// Loops only ever append: a full queue refuses at once and the caller counts the loss.
final class LogQueue: Sendable {
    /// What the writer takes at once.
    struct Batch {
        var lines: [UInt8] = []
        var count = 0
        /// The file is to be opened anew before these lines are written.
        var reopens = false
        /// No further lines will come.
        var isLast = false
    }

    private struct State {
        var batch = Batch()
        var isClosed = false
        var isWakeSent = false
    }

    private let state = Mutex(State())
    private let bytesLimit: Int
    private let linesLimit: Int
    private let wakeThreshold: Int
    private let wake: WakeSignal

    init(bytesLimit: Int, linesLimit: Int, wake: WakeSignal) {
        self.bytesLimit = bytesLimit
        self.linesLimit = linesLimit
        self.wakeThreshold = min(65_536, bytesLimit / 2)
        self.wake = wake
    }

    /// Appends one line, which `render` writes to the end of the buffer, line feed included.
    ///
    /// - Returns: false when the queue is full or closed; the line is lost then.
    func append(_ render: (inout [UInt8]) -> Void) -> Bool {
        var wakes = false
        let isTaken = self.state.withLock { state in
            guard !state.isClosed, state.batch.count < self.linesLimit, state.batch.lines.count < self.bytesLimit
            else { return false }
            render(&state.batch.lines)
            state.batch.count += 1
            wakes = state.batch.lines.count >= self.wakeThreshold && !state.isWakeSent
            if wakes { state.isWakeSent = true }
            return true
        }
        if wakes { self.wake.send() }
        return isTaken
    }

    /// Asks the writer to open its file anew.
    func reopen() {
        self.state.withLock { $0.batch.reopens = true }
        self.wake.send()
    }

    /// Refuses further lines and lets the writer end.
    func close() {
        self.state.withLock { $0.isClosed = true }
        self.wake.send()
    }

    /// Gives the waiting lines for an empty buffer whose memory is used again.
    func take(reusing buffer: consuming [UInt8]) -> Batch {
        buffer.removeAll(keepingCapacity: buffer.capacity <= 1_048_576)
        let empty = Batch(lines: buffer)
        return self.state.withLock { state in
            var taken = empty
            swap(&taken, &state.batch)
            taken.isLast = state.isClosed
            state.isWakeSent = false
            return taken
        }
    }
}
