import Glibc
import Synchronization

/// Starts threads that may block, which the tasks of Swift's own pool must not.
package enum OwnThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs the body on a new detached thread; traps only when the machine has no thread left to give.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let box = Unmanaged.passRetained(Body(body)).toOpaque()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box)
        pthread_attr_destroy(&attributes)
        precondition(status == 0, "no thread to be had")
    }

    /// Runs the body `count` times, each on a thread of its own, all let go at the same moment; results in order.
    package static func together<Result: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) -> Result
    ) -> [Result] {
        let results = Results<Result>(count)
        let start = Gate()
        let done = Gate()
        for index in 0..<count {
            self.start {
                start.wait()
                if results.set(index, body(index)) { done.open() }
            }
        }
        start.open()
        if count > 0 { done.wait() }
        return results.all
    }

    private final class Results<Result: Sendable>: Sendable {
        private let values: Mutex<[Result?]>
        init(_ count: Int) { self.values = Mutex(Array(repeating: nil, count: count)) }

        /// True for the last one.
        func set(_ index: Int, _ value: Result) -> Bool {
            self.values.withLock { values in
                values[index] = value
                return values.allSatisfy { $0 != nil }
            }
        }

        var all: [Result] { self.values.withLock { $0.compactMap { $0 } } }
    }
}

/// Holds threads back until it is opened, once and for ever.
package final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    package init() {}

    package func open() { self.isOpen.store(true, ordering: .releasing) }

    package var isPassable: Bool { self.isOpen.load(ordering: .acquiring) }

    package func wait() { while !self.isPassable { Stopwatch.sleep(milliseconds: 1) } }
}

/// Runs the tasks given to it on one thread of its own, so that a test may block without holding up other tests.
package final class OwnThreadExecutor: TaskExecutor {
    private let jobs = Mutex<(waiting: [UnownedJob], stopped: Bool)>(([], false))
    private let ready = Semaphore()

    package init() {
        let thread = self.asUnownedTaskExecutor()
        // The thread keeps the executor alive until `stop`.
        OwnThread.start { [self] in
            while true {
                self.ready.wait()
                let (next, over) = self.jobs.withLock { jobs -> (UnownedJob?, Bool) in
                    jobs.waiting.isEmpty ? (nil, jobs.stopped) : (jobs.waiting.removeFirst(), false)
                }
                if let next { next.runSynchronously(on: thread) } else if over { return }
            }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.jobs.withLock { $0.waiting.append(job) }
        self.ready.post()
    }

    /// Runs something that may block on a thread of its own, and waits for it.
    package static func run<Value: Sendable>(
        _ body: @concurrent @Sendable () async throws -> Value
    ) async throws -> Value {
        let thread = OwnThreadExecutor()
        defer { thread.stop() }
        return try await withTaskExecutorPreference(thread) { try await body() }
    }

    /// Lets the thread end once nothing waits.
    package func stop() {
        self.jobs.withLock { $0.stopped = true }
        self.ready.post()
    }
}

/// Counts up, and lets as many threads pass.
private final class Semaphore: Sendable {
    /// The kernel guards it: a POSIX semaphore may be used from every thread.
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        self.semaphore = .allocate(capacity: 1)
        sem_init(self.semaphore, 0, 0)
    }

    deinit {
        sem_destroy(self.semaphore)
        self.semaphore.deallocate()
    }

    func post() { sem_post(self.semaphore) }
    func wait() { while sem_wait(self.semaphore) != 0 && errno == EINTR {} }
}
