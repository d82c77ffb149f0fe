import CUV
import Glibc

/// The loops of the process, each on a thread of its own.
package final class EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    private let threads: [Thread]

    /// A joined-once thread handle.
    private struct Thread: @unchecked Sendable {
        // Unchecked: written before the group is shared, read by `shutDown` alone.
        let handle: pthread_t
    }

    /// Starts `count` loops; nil takes one for each core the process may use.
    package init(count: Int? = nil) throws(SystemFailure) {
        let wanted = max(1, count ?? Int(uv_available_parallelism()))
        signal(SIGPIPE, SIG_IGN)
        var loops: [EventLoop] = []
        var threads: [Thread] = []
        for index in 0..<wanted {
            let loop = try EventLoop(index: index)
            threads.append(Thread(handle: try Self.start(loop)))
            loops.append(loop)
        }
        self.loops = loops
        self.threads = threads
    }

    private static func start(_ loop: EventLoop) throws(SystemFailure) -> pthread_t {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(loop).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let loop = Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue()
                cuv_name_thread("loop-\(loop.index)")
                loop.run()
                return nil
            }, argument)
        guard result == 0 else { throw SystemFailure("pthread_create", code: result) }
        return thread
    }

    /// Ends the loops and waits for their threads. Not to be called from a loop.
    package func shutDown() {
        for loop in self.loops { loop.stop() }
        for thread in self.threads { pthread_join(thread.handle, nil) }
    }
}
