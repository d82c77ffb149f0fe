import EventLoops

/// A share of the connections of one loop, each a child task of the lane.
///
/// A task group finds a child that ends by walking over all of its children, so one group for all connections would
/// make each of ten thousand dear to close.
final class ConnectionLane: Sendable {
    static let countForEachLoop = 64

    /// An accepted connection on its way to its task.
    private struct Arrival: @unchecked Sendable {
        // Unchecked: made on its loop and used by a task on the same loop.
        let connection: Connection
    }

    let loop: EventLoop
    private let arrivals: AsyncStream<Arrival>
    private let arrived: AsyncStream<Arrival>.Continuation

    init(loop: EventLoop) {
        self.loop = loop
        (self.arrivals, self.arrived) = AsyncStream<Arrival>.makeStream()
    }

    /// Hands a connection over; on its loop.
    func arrive(_ connection: Connection) { self.arrived.yield(Arrival(connection: connection)) }

    /// Serves connections until `finish` and the last of them.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await arrival in self.arrivals {
                group.addTask(executorPreference: self.loop) { await arrival.connection.serve() }
            }
        }
    }

    /// No connection comes any more.
    func finish() { self.arrived.finish() }
}
