import EventLoops
import GatewayTypes
import HTTPCodec
import Synchronization

/// How many connections of one server are open; counted on every loop, read by the drain.
final class OpenConnections: Sendable {
    let count = Atomic(0)
}

/// What the connections of one loop share. On the loop.
final class LoopShared: @unchecked Sendable {
    // Unchecked: handed to its loop before the first connection, touched there only.
    private let loop: EventLoop
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var date = HTTPDate()
    private(set) var isDraining = false
    /// Connections since the start; tells which lane takes the next one.
    var accepted = 0
    /// Where answers are put together before they go to the kernel.
    var scratch: [UInt8] = []

    /// Connections whose streams have gathered what is to be sent at the end of this turn of the loop.
    private var unsent: [Connection] = []

    /// Open connections of the server, in all loops.
    private let openConnections: OpenConnections

    init(loop: EventLoop, openConnections: OpenConnections) {
        self.loop = loop
        self.openConnections = openConnections
    }

    func add(_ connection: Connection) {
        self.connections[ObjectIdentifier(connection)] = connection
        self.openConnections.count.add(1, ordering: .relaxed)
    }

    func remove(_ connection: Connection) {
        guard self.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        self.loop.connectionCount.subtract(1, ordering: .relaxed)
        self.openConnections.count.subtract(1, ordering: .relaxed)
    }

    /// Flushes the stream of a connection when this turn of the loop has done its reading.
    func flushSoon(_ connection: Connection) {
        if self.unsent.isEmpty { self.loop.later { [self] in self.flushUnsent() } }
        self.unsent.append(connection)
    }

    private func flushUnsent() {
        var connections: [Connection] = []
        swap(&connections, &self.unsent)
        for connection in connections { connection.flushUnsent() }
        guard self.unsent.isEmpty, connections.capacity <= 4096 else { return }
        connections.removeAll(keepingCapacity: true)
        swap(&connections, &self.unsent)
    }

    func appendDate(to output: inout [UInt8]) {
        MessageWriter.append("date: ", to: &output)
        self.date.append(seconds: self.loop.clock.wallTime().seconds, to: &output)
        MessageWriter.append("\r\n", to: &output)
    }

    func drain() {
        self.isDraining = true
        for connection in self.connections.values { connection.drain() }
    }

    func deadlineCame() {
        for connection in self.connections.values { connection.deadlineCame() }
    }

    func abort() {
        for connection in self.connections.values { connection.abort() }
    }
}
