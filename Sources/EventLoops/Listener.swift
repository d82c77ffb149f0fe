import CUV
import GatewayTypes
import Glibc
import Synchronization

/// A network address as text and as bytes; for limits by address and for logs of the operator.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 bytes for IPv4 (also when it arrived mapped into IPv6), else 16.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    init(_ storage: inout sockaddr_storage) {
        switch Int32(storage.ss_family) {
        case AF_INET:
            self.bytes = withUnsafeBytes(of: &storage) { Array($0[4..<8]) }
        case AF_INET6:
            let raw = withUnsafeBytes(of: &storage) { Array($0[8..<24]) }
            let isMapped = raw[..<10].allSatisfy { $0 == 0 } && raw[10] == 0xFF && raw[11] == 0xFF
            self.bytes = isMapped ? Array(raw[12...]) : raw
        default:
            self.bytes = []
        }
    }

    package var description: String {
        if self.bytes.count == 4 { return self.bytes.map { "\($0)" }.joined(separator: ".") }
        return stride(from: 0, to: self.bytes.count - 1, by: 2)
            .map { String(UInt16(self.bytes[$0]) << 8 | UInt16(self.bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }
}

/// A listening socket on one loop that hands accepted connections to whichever loop has the fewest.
///
/// One acceptor for all loops, instead of one socket each, since the kernel's hash spreads few connections badly.
package final class Listener: WatcherDelegate, @unchecked Sendable {
    // Unchecked: after `start`, touched on its loop only; `close` goes there by itself.
    package typealias Handler =
        @Sendable (_ descriptor: consuming FileDescriptor, _ peer: PeerAddress, EventLoop) -> Void

    /// The port listened on, also when 0 was asked for.
    package let port: Int
    private let loop: EventLoop
    private let targets: [EventLoop]
    private let handler: Handler
    private let maxConnections: Int
    private var descriptor: Int32
    private var watcher: Watcher?
    private let resume = LoopTimer()

    /// Binds and listens; accepting starts with `start`.
    ///
    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address, not a name.
    ///   - maxConnections: above this many open connections in all loops, new ones wait in the kernel's queue.
    package init(
        address: String, port: Int, group: EventLoopGroup, maxConnections: Int = .max, handler: @escaping Handler
    ) throws(SystemFailure) {
        let descriptor = try Self.bind(address: address, port: port)
        self.port = Self.boundPort(descriptor.number)
        self.descriptor = descriptor.take()
        self.loop = group.loops[0]
        self.targets = group.loops
        self.maxConnections = maxConnections
        self.handler = handler
    }

    private static func bind(address: String, port: Int) throws(SystemFailure) -> FileDescriptor {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &found) == 0, let info = found else {
            throw SystemFailure("getaddrinfo", code: EINVAL)
        }
        defer { freeaddrinfo(found) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = FileDescriptor(owning: socket(info.pointee.ai_family, kind, 0))
        guard descriptor.number >= 0 else { throw SystemFailure("socket", code: errno) }
        var on: Int32 = 1
        setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard Glibc.bind(descriptor.number, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0 else {
            throw SystemFailure("bind", code: errno)
        }
        guard listen(descriptor.number, 4096) == 0 else { throw SystemFailure("listen", code: errno) }
        return descriptor
    }

    private static func boundPort(_ descriptor: Int32) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return 0 }
        return withUnsafeBytes(of: &storage) { Int($0[2]) << 8 | Int($0[3]) }
    }

    /// For one that never began, as when another address of the program is taken; a started one ends with `close`.
    deinit { if self.descriptor >= 0 { Glibc.close(self.descriptor) } }

    /// Begins to accept. From any thread.
    package func start() {
        self.loop.submit {
            guard self.descriptor >= 0, let watcher = try? Watcher(self.descriptor, on: self.loop) else { return }
            self.watcher = watcher
            watcher.delegate = self
            watcher.watch(.readable)
        }
    }

    /// Stops accepting and closes the socket. From any thread.
    package func close() {
        self.loop.submit {
            guard self.descriptor >= 0 else { return }
            self.loop.remove(self.resume)
            self.watcher?.close()
            self.watcher = nil
            Glibc.close(self.descriptor)
            self.descriptor = -1
        }
    }

    package func watcher(_ watcher: Watcher, isReady readiness: Readiness) {
        // Bounded, so that a storm of connections does not hold up the loop's own.
        for _ in 0..<64 {
            guard let target = self.targets.min(by: { Self.load(of: $0) < Self.load(of: $1) }) else { return }
            let open = self.targets.reduce(0) { $0 + Self.load(of: $1) }
            guard open < self.maxConnections else { return self.pause() }
            guard self.acceptOne(for: target) else { return }
        }
    }

    private static func load(of loop: EventLoop) -> Int { loop.connectionCount.load(ordering: .relaxed) }

    /// Accepts one connection; false when there is none or no room for it.
    private func acceptOne(for target: EventLoop) -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let number = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                accept4(self.descriptor, $0, &length, flags)
            }
        }
        guard number >= 0 else {
            let code = errno
            // Out of descriptors or memory: the queue stays readable, so wait instead of spinning.
            if code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM { self.pause() }
            return code == ECONNABORTED || code == EINTR
        }
        var on: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        target.connectionCount.add(1, ordering: .relaxed)
        let peer = PeerAddress(&storage)
        if target === self.loop {
            self.handler(FileDescriptor(owning: number), peer, target)
        } else {
            let handler = self.handler
            target.submit { handler(FileDescriptor(owning: number), peer, target) }
        }
        return true
    }

    private func pause() {
        self.watcher?.watch([])
        self.resume.action = { [weak self] in self?.watcher?.watch(.readable) }
        self.loop.arm(self.resume, after: .milliseconds(50))
    }
}
