package import GatewayTypes
import Glibc
import Synchronization

/// What went wrong with a test's socket.
package enum SocketFailure: Error, Equatable {
    case system(call: String, number: Int32)
    case timedOut
    case peerClosed
    case peerReset
}

/// A TCP socket on the loopback interface, used from threads that may block; every wait has a limit.
package final class TestSocket: Sendable {
    /// -1 once closed.
    private let descriptor: Mutex<Int32>

    init(owning descriptor: Int32) {
        self.descriptor = Mutex(descriptor)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { self.close() }

    private var number: Int32 { self.descriptor.withLock { $0 } }

    /// Connects to a port of 127.0.0.1.
    /// - Parameter receiveBuffer: bytes the kernel may hold for a reader that does not read; nil for its default.
    package static func connect(port: UInt16, receiveBuffer: Int32? = nil) throws(SocketFailure) -> TestSocket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", number: errno) }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let status = self.withLoopback(port) { Glibc.connect(descriptor, $0, $1) }
        guard status == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw .system(call: "connect", number: number)
        }
        return TestSocket(owning: descriptor)
    }

    /// Listens on a port of 127.0.0.1; zero for any free one.
    package static func listen(on wanted: UInt16 = 0) throws(SocketFailure) -> (socket: TestSocket, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", number: errno) }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var port: UInt16 = 0
        var status = self.withLoopback(wanted) { bind(descriptor, $0, $1) }
        if status == 0 { status = Glibc.listen(descriptor, 1024) }
        if status == 0 {
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            }
            port = UInt16(bigEndian: address.sin_port)
        }
        guard status == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw .system(call: "listen", number: number)
        }
        return (TestSocket(owning: descriptor), port)
    }

    /// A port for a process that must be told its port: free a moment ago, given out once, and outside the range from
    /// which the system takes ports for connections.
    package static func freePort() throws(SocketFailure) -> UInt16 {
        while true {
            let port = self.nextPort.withLock { next in
                next = next >= 31_999 ? 16_000 : next + 1
                return next
            }
            do throws(SocketFailure) {
                return try self.listen(on: port).port
            } catch {
                guard case .system(_, EADDRINUSE) = error else { throw error }
            }
        }
    }

    /// Processes that test side by side begin far apart.
    private static let nextPort = Mutex(UInt16(16_000 + Int(getpid()) * 61 % 16_000))

    private static func withLoopback<Result>(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The next connection; nil when none came in time or the socket was closed.
    package func accept(within limit: TimeSpan) -> TestSocket? {
        guard self.isReady(Int16(POLLIN), within: limit) else { return nil }
        let descriptor = Glibc.accept(self.number, nil, nil)
        return descriptor >= 0 ? TestSocket(owning: descriptor) : nil
    }

    /// Sends everything, waiting for a peer that reads slowly.
    package func send(_ bytes: some Collection<UInt8>, within limit: TimeSpan = .seconds(10)) throws(SocketFailure) {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(self.number, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                guard self.isReady(Int16(POLLOUT), within: limit) else { throw .timedOut }
            } else if errno != EINTR {
                throw errno == ECONNRESET || errno == EPIPE ? .peerReset : .system(call: "send", number: errno)
            }
        }
    }

    /// What has come, at most `most` bytes; empty when the peer has closed its side.
    package func receive(most: Int = 65536, within limit: TimeSpan) throws(SocketFailure) -> [UInt8] {
        let watch = Stopwatch()
        while true {
            let left = limit - watch.elapsed
            guard left > .seconds(0), self.isReady(Int16(POLLIN), within: left) else { throw .timedOut }
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
                let got = recv(self.number, buffer.baseAddress, most, 0)
                failure = got < 0 ? errno : 0
                count = max(0, got)
            }
            switch failure {
            case 0: return bytes
            case EAGAIN, EINTR: continue
            case ECONNRESET: throw .peerReset
            default: throw .system(call: "recv", number: failure)
            }
        }
    }

    /// Whether the peer has closed or reset the connection, looked at without taking bytes that wait.
    package var isClosedByPeer: Bool {
        var byte: UInt8 = 0
        let count = recv(self.number, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// Whether bytes wait, or the peer's end.
    package var hasInput: Bool { self.isReady(Int16(POLLIN), within: .seconds(0)) }

    /// Says that nothing more will be sent; reading goes on.
    package func finish() { shutdown(self.number, Int32(SHUT_WR)) }

    /// Ends both ways, so that a thread waiting on this socket wakes.
    package func interrupt() { shutdown(self.number, Int32(SHUT_RDWR)) }

    /// Closes; with `reset` the peer gets a TCP reset in place of an orderly end.
    package func close(reset: Bool = false) {
        let descriptor = self.descriptor.withLock { number in
            defer { number = -1 }
            return number
        }
        guard descriptor >= 0 else { return }
        if reset {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
    }

    private func isReady(_ events: Int16, within limit: TimeSpan) -> Bool {
        var entry = pollfd(fd: self.number, events: events, revents: 0)
        let watch = Stopwatch()
        while true {
            let left = max(0, (limit - watch.elapsed).inMilliseconds)
            let status = poll(&entry, 1, Int32(clamping: left))
            if status > 0 { return true }
            if status == 0 || errno != EINTR { return false }
        }
    }
}
