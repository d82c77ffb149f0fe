import GatewayTypes
import Synchronization

/// Accepts connections on a loopback port, each served on a thread of its own, until it is stopped or let go.
package final class LoopbackServer: Sendable {
    private struct State {
        var connections: [Int: TestSocket] = [:]
        var opened = 0
        var stopped = false
    }

    package let port: UInt16
    private let listener: TestSocket
    private let state = Mutex(State())

    /// - Parameters:
    ///   - port: zero for any free one; that of one that was stopped to come back after it.
    ///   - serve: on a thread of each connection, with its number from 0; the socket is closed when it returns.
    package init(
        on port: UInt16 = 0, serve: @escaping @Sendable (TestSocket, _ number: Int) throws -> Void
    ) throws(SocketFailure) {
        (self.listener, self.port) = try TestSocket.listen(on: port)
        OwnThread.start { [weak self, listener] in
            while true {
                let socket = listener.accept(within: .milliseconds(50))
                guard let self, !self.state.withLock({ $0.stopped }) else { break }
                if let socket { self.accepted(socket, serve) }
            }
            listener.close()
        }
    }

    deinit { self.stop() }

    /// Connections since the start.
    package var opened: Int { self.state.withLock { $0.opened } }

    /// Closes the listener and every connection; the port is free soon after.
    package func stop() {
        let connections = self.state.withLock { state in
            state.stopped = true
            return Array(state.connections.values)
        }
        self.listener.interrupt()
        self.listener.close()
        for connection in connections { connection.interrupt() }
    }

    private func accepted(_ socket: TestSocket, _ serve: @escaping @Sendable (TestSocket, Int) throws -> Void) {
        let number = self.state.withLock { state in
            defer { state.opened += 1 }
            state.connections[state.opened] = socket
            return state.opened
        }
        // Lives on while somebody is served.
        OwnThread.start { [self] in
            try? serve(socket, number)
            socket.close()
            _ = self.state.withLock { $0.connections.removeValue(forKey: number) }
        }
    }
}
