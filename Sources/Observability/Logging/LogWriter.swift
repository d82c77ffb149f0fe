package import GatewayTypes
import Glibc
import Synchronization

/// One thread that writes the lines of one bounded queue to one sink.
///
/// Lines are written in batches, at the latest about 100 ms after they came. A sink that takes nothing stalls only
/// this thread: the queue fills and further lines are lost and counted.
package final class LogWriter: Sendable {
    /// How much may wait. As much again may be on its way to the sink.
    package struct Limits: Sendable {
        package var bytes: Int
        package var lines: Int

        package init(bytes: Int = 8_388_608, lines: Int = 65_536) {
            self.bytes = bytes
            self.lines = lines
        }
    }

    /// What went wrong so far.
    package struct Losses: Equatable, Sendable {
        package var linesDropped = 0
        package var writeErrors = 0
    }

    private let thread: WriterThread
    private let isDiscarding: Bool

    /// Opens the sink and starts the thread.
    ///
    /// - Parameter onLoss: told, on whatever thread, of each loss: lines, then failed writes.
    package init(
        _ sink: LogSink, limits: Limits = Limits(), onLoss: @escaping @Sendable (Losses) -> Void = { _ in }
    ) throws(LogFailure) {
        self.isDiscarding = sink == .none
        self.thread = try WriterThread(limits: limits, onLoss: onLoss)
        guard !self.isDiscarding else { return }
        try self.thread.start(LogFile(sink))
    }

    deinit { self.thread.queue.close() }

    /// Appends one line, line feed included, by writing to the end of the buffer. Never waits for the sink.
    func append(_ render: (inout [UInt8]) -> Void) {
        guard !self.isDiscarding, !self.thread.queue.append(render) else { return }
        self.thread.lost(Losses(linesDropped: 1))
    }

    /// Opens the file again, for a rotation that moved it away.
    package func reopen() { if !self.isDiscarding { self.thread.queue.reopen() } }

    /// What was lost since the start.
    package var losses: Losses { self.thread.losses.withLock { $0 } }

    /// Writes what waits and ends the thread; blocks its caller until then, but no longer than about `limit`.
    ///
    /// - Returns: whether everything got out in time. What did not is counted as dropped.
    @discardableResult
    package func stop(within limit: TimeSpan) -> Bool { self.isDiscarding || self.thread.stop(within: limit) }
}

/// The state that a writer and its thread share.
private final class WriterThread: Sendable {
    let queue: LogQueue
    let losses = Mutex(LogWriter.Losses())
    private let wake: WakeSignal
    private let ended: WakeSignal
    private let isAbandoned = Atomic(false)
    private let onLoss: @Sendable (LogWriter.Losses) -> Void

    init(
        limits: LogWriter.Limits, onLoss: @escaping @Sendable (LogWriter.Losses) -> Void
    ) throws(LogFailure) {
        self.wake = try WakeSignal()
        self.ended = try WakeSignal()
        self.queue = LogQueue(bytesLimit: max(limits.bytes, 1), linesLimit: max(limits.lines, 1), wake: self.wake)
        self.onLoss = onLoss
    }

    func start(_ file: consuming LogFile) throws(LogFailure) {
        let start = ThreadStart(shared: self, file: file)
        let opaque = Unmanaged.passRetained(start)
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { runWriter($0) }, opaque.toOpaque())
        guard result == 0 else {
            opaque.release()
            throw .cannotStartThread(errno: result)
        }
        pthread_detach(thread)
    }

    func lost(_ losses: LogWriter.Losses) {
        self.losses.withLock {
            $0.linesDropped += losses.linesDropped
            $0.writeErrors += losses.writeErrors
        }
        self.onLoss(losses)
    }

    func stop(within limit: TimeSpan) -> Bool {
        self.queue.close()
        if self.hasEnded(slices: limit.nanoseconds / 10_000_000) { return true }
        self.isAbandoned.store(true, ordering: .relaxed)
        self.wake.send()
        _ = self.hasEnded(slices: 30)
        return false
    }

    /// Waits in slices of 10 ms, so that a signal cannot prolong the whole.
    private func hasEnded(slices: Int64) -> Bool {
        for _ in 0..<max(slices, 1) where self.ended.wait(milliseconds: 10) {
            self.ended.send()
            return true
        }
        return false
    }

    /// The thread's life.
    func run(_ file: inout LogFile) {
        var buffer: [UInt8] = []
        while true {
            var batch = self.queue.take(reusing: buffer)
            if batch.reopens, !file.reopen() { self.lost(LogWriter.Losses(writeErrors: 1)) }
            let report = file.write(batch.lines) { self.isAbandoned.load(ordering: .relaxed) }
            if report != LogFile.Report() {
                self.lost(LogWriter.Losses(linesDropped: report.linesLost, writeErrors: report.failures))
            }
            if batch.isLast { break }
            buffer = []
            swap(&buffer, &batch.lines)
            self.wake.wait(milliseconds: 100)
        }
        self.ended.send()
    }
}

/// What a new thread is given. Handed over once, from the starter to the thread.
private final class ThreadStart {
    let shared: WriterThread
    var file: LogFile

    init(shared: WriterThread, file: consuming LogFile) {
        self.shared = shared
        self.file = file
    }
}

private func runWriter(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // Signals are for the loops; a broken pipe is an error of the write.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, nil)
    guard let opaque else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(opaque).takeRetainedValue()
    start.shared.run(&start.file)
    return nil
}
