package import EventLoops
import Synchronization

/// One listener with its connections on all loops.
///
/// `run` returns when a drain has ended: every connection is closed and every task over.
package final class WebServer: Sendable {
    /// The port listened on, also when 0 was asked for.
    package var port: Int { self.listener.port }
    private let group: EventLoopGroup
    private let configuration: HTTPServerConfiguration
    private let handler: any HTTPHandler
    private let shared: [LoopShared]
    private let open: OpenConnections
    private let listener: Listener
    private let lanes: [ConnectionLane]

    /// Binds; answering begins with `run`.
    package init(
        address: String, port: Int, group: EventLoopGroup, configuration: HTTPServerConfiguration,
        handler: any HTTPHandler
    ) throws(SystemFailure) {
        self.group = group
        self.configuration = configuration
        self.handler = handler
        let open = OpenConnections()
        self.open = open
        let shared = group.loops.map { LoopShared(loop: $0, openConnections: open) }
        self.shared = shared
        let lanes = group.loops.flatMap { loop in
            (0..<ConnectionLane.countForEachLoop).map { _ in ConnectionLane(loop: loop) }
        }
        self.lanes = lanes
        self.listener = try Listener(
            address: address, port: port, group: group, maxConnections: configuration.maxConnections
        ) { descriptor, peer, loop in
            guard let stream = try? ByteStream(adopting: descriptor, on: loop) else {
                loop.connectionCount.subtract(1, ordering: .relaxed)
                return
            }
            let own = shared[loop.index]
            let connection = Connection(
                stream, peer: peer, loop: loop, configuration: configuration, handler: handler, shared: own)
            own.add(connection)
            own.accepted &+= 1
            let lane = own.accepted % ConnectionLane.countForEachLoop
            lanes[loop.index * ConnectionLane.countForEachLoop + lane].arrive(connection)
        }
    }

    /// Accepts and answers until `drain` has ended.
    package func run() async {
        self.listener.start()
        await withDiscardingTaskGroup { group in
            for lane in self.lanes { group.addTask(executorPreference: lane.loop) { await lane.run() } }
        }
    }

    /// Ends in good order: no new connections, no further requests; running answers go on until `isOver`, are then
    /// told to end, and are broken off a moment later.
    ///
    /// - Parameters:
    ///   - isOver: whether the drain's deadline has come; asked again after every `pause`.
    ///   - pause: waits for a few milliseconds.
    package func drain(until isOver: () -> Bool, pause: () async -> Void) async {
        self.listener.close()
        self.onEachLoop { $0.drain() }
        while !isOver(), self.openConnections > 0 { await pause() }
        self.onEachLoop { $0.deadlineCame() }
        for _ in 0..<40 where self.openConnections > 0 { await pause() }
        self.onEachLoop { $0.abort() }
        for lane in self.lanes { lane.finish() }
    }

    /// Open connections of this listener, in all loops.
    package var openConnections: Int { self.open.count.load(ordering: .relaxed) }

    private func onEachLoop(_ action: @escaping @Sendable (LoopShared) -> Void) {
        for (loop, shared) in zip(self.group.loops, self.shared) { loop.submit { action(shared) } }
    }
}
