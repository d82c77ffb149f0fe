import CUV
package import GatewayTypes
import Glibc
package import Synchronization

/// One thread with one libuv loop that runs Swift tasks beside its sockets and timers.
///
/// Start work with it as executor preference in a task group, and the work stays on this thread across every `await`.
/// What a connection touches lives on its loop; a method marked "on the loop" must be called on its thread.
///
/// A `TaskExecutor` and no `SerialExecutor`: a task that runs under an actor's identity but belongs to none is
/// enqueued anew at every step.
package final class EventLoop: TaskExecutor, @unchecked Sendable {
    // Unchecked because `inbox` is guarded by its lock and all else belongs to the loop's thread after `start`.

    /// What other threads leave for the loop.
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var calls: [@Sendable () -> Void] = []
        var isStopped = false
        /// The loop has ended: nobody wakes it any more.
        var isClosed = false
        var isEmpty: Bool { self.jobs.isEmpty && self.calls.isEmpty }
    }

    package let index: Int
    package let clock = SystemClock()
    /// The libuv loop, for the handles of this target only.
    let uv: UnsafeMutablePointer<uv_loop_t>
    /// Where sockets read into: lent to the receiver for the length of one callback.
    let readBuffer: UnsafeMutableRawBufferPointer
    private let inbox = Mutex(Inbox())
    private let wakeUp: UnsafeMutablePointer<uv_async_t>
    private let beforeWait: UnsafeMutablePointer<uv_prepare_t>
    private let afterWait: UnsafeMutablePointer<uv_check_t>
    private let noWait: UnsafeMutablePointer<uv_idle_t>
    private let tick: UnsafeMutablePointer<uv_timer_t>
    private var thread = pthread_t()
    private let isRunning = Atomic(false)
    private var ready: [UnownedJob] = []
    private var running: [UnownedJob] = []
    private var soon: [() -> Void] = []
    private var wheel: TimerWheel
    /// The time of this turn, once somebody has asked for it.
    private var turn: MonotonicTime?
    private var armedWake = MonotonicTime(nanoseconds: .max)
    private var isSpinning = false
    /// Connections that the acceptor has given to this loop; read by it to spread them evenly.
    package let connectionCount = Atomic(0)

    package init(index: Int) throws(SystemFailure) {
        self.index = index
        self.uv = .allocate(capacity: 1)
        self.wakeUp = .allocate(capacity: 1)
        self.beforeWait = .allocate(capacity: 1)
        self.afterWait = .allocate(capacity: 1)
        self.noWait = .allocate(capacity: 1)
        self.tick = .allocate(capacity: 1)
        self.readBuffer = .allocate(byteCount: 65536, alignment: 16)
        self.wheel = TimerWheel(now: SystemClock().monotonicTime())
        let result = uv_loop_init(self.uv)
        guard result == 0 else { throw SystemFailure("uv_loop_init", uv: result) }
        try self.setUpHandles()
    }

    private func setUpHandles() throws(SystemFailure) {
        // Unretained: the group keeps every loop until its thread has ended.
        let me = Unmanaged.passUnretained(self).toOpaque()
        let result = uv_async_init(self.uv, self.wakeUp) { handle in EventLoop.of(handle)?.takeInbox() }
        guard result == 0 else { throw SystemFailure("uv_async_init", uv: result) }
        uv_prepare_init(self.uv, self.beforeWait)
        uv_check_init(self.uv, self.afterWait)
        uv_idle_init(self.uv, self.noWait)
        uv_timer_init(self.uv, self.tick)
        self.wakeUp.pointee.data = me
        self.beforeWait.pointee.data = me
        self.afterWait.pointee.data = me
        self.noWait.pointee.data = me
        self.tick.pointee.data = me
        uv_prepare_start(self.beforeWait) { handle in EventLoop.of(handle)?.runReady(aboutToWait: true) }
        uv_check_start(self.afterWait) { handle in EventLoop.of(handle)?.runReady(aboutToWait: false) }
    }

    /// The loop that a handle of its own belongs to; libuv never calls back without the handle.
    private static func of<Handle>(_ handle: UnsafeMutablePointer<Handle>?) -> EventLoop? {
        let raw = UnsafeMutableRawPointer(handle)?.assumingMemoryBound(to: uv_handle_t.self)
        guard let data = raw?.pointee.data else { return nil }
        return Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
    }

    deinit {
        self.readBuffer.deallocate()
        self.uv.deallocate()
        self.wakeUp.deallocate()
        self.beforeWait.deallocate()
        self.afterWait.deallocate()
        self.noWait.deallocate()
        self.tick.deallocate()
    }

    // MARK: Thread

    /// Runs the loop on the calling thread until `stop`.
    func run() {
        self.thread = pthread_self()
        self.isRunning.store(true, ordering: .releasing)
        self.takeInbox()
        uv_run(self.uv, UV_RUN_DEFAULT)
        self.close()
        self.isRunning.store(false, ordering: .releasing)
    }

    /// Gives the loop's descriptors back. Where somebody has left a socket open libuv keeps them.
    private func close() {
        self.inbox.withLock { $0.isClosed = true }
        let own: [UnsafeMutableRawPointer] = [
            UnsafeMutableRawPointer(self.wakeUp), UnsafeMutableRawPointer(self.beforeWait),
            UnsafeMutableRawPointer(self.afterWait), UnsafeMutableRawPointer(self.noWait),
            UnsafeMutableRawPointer(self.tick),
        ]
        for handle in own { uv_close(handle.assumingMemoryBound(to: uv_handle_t.self), nil) }
        // A turn or two until they are closed; not until others are, whose owners may never come.
        for _ in 0..<4 {
            if uv_loop_close(self.uv) == 0 { return }
            uv_run(self.uv, UV_RUN_NOWAIT)
        }
    }

    /// Ends `run` after what is ready has run. From any thread.
    func stop() {
        self.inbox.withLock { inbox in
            inbox.isStopped = true
            if !inbox.isClosed { uv_async_send(self.wakeUp) }
        }
    }

    /// Whether the calling thread is the loop's.
    package var isCurrent: Bool {
        self.isRunning.load(ordering: .acquiring) && pthread_equal(pthread_self(), self.thread) != 0
    }

    // MARK: Work from elsewhere

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if self.isCurrent {
            self.ready.append(job)
            return
        }
        self.leave { $0.jobs.append(job) }
    }

    /// Calls a closure on the loop soon. From any thread.
    package func submit(_ call: @escaping @Sendable () -> Void) {
        self.leave { $0.calls.append(call) }
    }

    /// Leaves something for the loop and wakes it; for a loop that has ended nothing is kept.
    private func leave(_ add: (inout Inbox) -> Void) {
        self.inbox.withLock { inbox in
            guard !inbox.isClosed else { return }
            let wasEmpty = inbox.isEmpty
            add(&inbox)
            // Under the lock: what is sent to must not be closed meanwhile.
            if wasEmpty { uv_async_send(self.wakeUp) }
        }
    }

    package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    private func takeInbox() {
        guard self.takeCalls() else { return }
        // What was left while the last calls ran is run too: somebody may wait for it.
        var rounds = 0
        while rounds < 64, !self.inbox.withLock({ $0.isEmpty }) {
            _ = self.takeCalls()
            rounds += 1
        }
        self.runReady(aboutToWait: false)
        uv_stop(self.uv)
    }

    /// Runs what others have left; true when the loop is to end.
    private func takeCalls() -> Bool {
        var calls: [@Sendable () -> Void] = []
        let stopped = self.inbox.withLock { inbox in
            self.ready.append(contentsOf: inbox.jobs)
            inbox.jobs.removeAll(keepingCapacity: true)
            swap(&calls, &inbox.calls)
            return inbox.isStopped
        }
        for call in calls { call() }
        return stopped
    }

    // MARK: Jobs and timers, on the loop

    /// Calls a closure on the loop's next turn. On the loop.
    package func later(_ call: @escaping () -> Void) { self.soon.append(call) }

    private func callSoon() {
        guard !self.soon.isEmpty else { return }
        var calls: [() -> Void] = []
        swap(&calls, &self.soon)
        for call in calls { call() }
    }

    /// Runs what is ready. Sixteen rounds at most before sockets get their turn, so that no task can starve them.
    private func runReady(aboutToWait: Bool) {
        self.fireTimers()
        var rounds = 0
        while !(self.ready.isEmpty && self.soon.isEmpty), rounds < 16 {
            self.callSoon()
            swap(&self.ready, &self.running)
            for job in self.running {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
            }
            self.running.removeAll(keepingCapacity: true)
            rounds += 1
        }
        if (self.ready.isEmpty && self.soon.isEmpty) == self.isSpinning {
            self.isSpinning.toggle()
            if self.isSpinning { uv_idle_start(self.noWait) { _ in } } else { uv_idle_stop(self.noWait) }
        }
        if aboutToWait { self.setWake() }
        self.turn = nil
    }

    private func fireTimers() {
        guard self.wheel.count > 0 else { return }
        let now = self.clock.monotonicTime()
        guard now >= self.armedWake else { return }
        self.armedWake = MonotonicTime(nanoseconds: .max)
        while let timer = self.wheel.popDue(now: now) { timer.action?() }
    }

    /// libuv's clock may run a little behind ours, so the wake is forgotten whether or not something was due.
    private func wokeByTimer() {
        self.fireTimers()
        self.armedWake = MonotonicTime(nanoseconds: .max)
    }

    private func setWake() {
        guard let wake = self.wheel.nextWake(), wake < self.armedWake else { return }
        self.armedWake = wake
        let now = self.clock.monotonicTime()
        uv_update_time(self.uv)
        let wait = max(0, (wake - now).nanoseconds + 999_999) / 1_000_000
        uv_timer_start(self.tick, { handle in EventLoop.of(handle)?.wokeByTimer() }, UInt64(wait), 0)
    }

    /// When the loop last woke, or a little later: for what happens often and need not be exact to the millisecond. On
    /// the loop.
    package var turnTime: MonotonicTime {
        if let turn = self.turn { return turn }
        let now = self.clock.monotonicTime()
        self.turn = now
        return now
    }

    /// Arms or moves a timer. On the loop.
    package func arm(_ timer: LoopTimer, after span: TimeSpan) {
        self.wheel.arm(timer, at: self.clock.monotonicTime() + span)
    }

    /// Arms or moves a timer. On the loop.
    package func arm(_ timer: LoopTimer, at deadline: MonotonicTime) { self.wheel.arm(timer, at: deadline) }

    /// Waits; a cancelled task waits no longer. On the loop.
    package func sleep(for span: TimeSpan) async {
        let timer = LoopTimer()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                timer.action = { continuation.resume() }
                self.arm(timer, after: Task.isCancelled ? .seconds(0) : span)
            }
        } onCancel: {
            self.submit { if timer.isArmed { self.arm(timer, after: .seconds(0)) } }
        }
    }

    /// Stands for a service that lives by callbacks: returns when it has ended.
    ///
    /// - Parameters:
    ///   - start: on the loop; given what is to be called, once, at the end.
    ///   - stop: from any thread, when the task is cancelled.
    package func hold(
        start: @escaping @Sendable (_ ended: @escaping () -> Void) -> Void, stop: @escaping @Sendable () -> Void
    ) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in self.submit { start { continuation.resume() } } }
        } onCancel: {
            stop()
        }
    }

    /// The timer will not fire; it stays linked until its old deadline. On the loop.
    package func cancel(_ timer: LoopTimer) { self.wheel.cancel(timer) }

    /// The timer will not fire and the loop forgets it now. On the loop.
    package func remove(_ timer: LoopTimer) {
        self.wheel.remove(timer)
        timer.action = nil
    }
}
