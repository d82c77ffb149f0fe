import CUV
package import GatewayTypes
import Glibc

/// Why no connection came about.
package enum ConnectFailure: Error, Hashable, Sendable {
    case unknownHost
    case refused
    case timedOut
}

/// Where a socket can be connected to.
package struct SocketAddress: Sendable {
    fileprivate var storage: sockaddr_storage
    fileprivate var length: socklen_t
}

/// Opens one TCP connection from a loop, trying each address of the host in turn. On the loop, all of it.
///
/// Calls back once, unless cancelled first; never from inside `start`.
package final class Connector: WatcherDelegate {
    private let loop: EventLoop
    private let host: String
    private let port: UInt16
    private var then: ((Result<ByteStream, ConnectFailure>) -> Void)?
    /// Those not tried yet, the next one last.
    private var addresses: [SocketAddress]
    /// What the host's name led to, in its order; empty when nothing was looked up.
    package private(set) var lookedUp: [SocketAddress] = []
    /// Whether nobody has said yet where the host's name leads.
    package private(set) var awaitsName = false
    /// The lookup under way, which libuv owns until it calls back.
    private var lookup: UnsafeMutablePointer<uv_getaddrinfo_t>?
    private var deadline = MonotonicTime(nanoseconds: 0)
    private var descriptor: Int32 = -1
    private var watcher: Watcher?
    private let timer = LoopTimer()

    /// - Parameter known: addresses to be tried instead of looking the host up.
    package init(
        to host: String, port: UInt16, known: [SocketAddress] = [], on loop: EventLoop,
        then: @escaping (Result<ByteStream, ConnectFailure>) -> Void
    ) {
        self.host = host
        self.port = port
        self.addresses = known.reversed()
        self.loop = loop
        self.then = then
    }

    deinit { self.close() }

    /// Begins. Names are looked up on one of libuv's few threads, which names that hang may hold; addresses are not.
    package func start(timeout: TimeSpan) {
        self.deadline = self.loop.clock.monotonicTime() + timeout
        self.timer.action = { [unowned self] in self.timeIsUp() }
        self.loop.arm(self.timer, at: self.deadline)
        guard self.addresses.isEmpty else { return self.tryNextLater() }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = AF_UNSPEC
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        if getaddrinfo(self.host, "\(self.port)", &hints, &found) == 0 {
            self.keep(found)
            freeaddrinfo(found)
            self.tryNextLater()
        } else {
            hints.ai_flags = 0
            self.lookUp(&hints)
        }
    }

    private func tryNextLater() { self.loop.later { [self] in if self.then != nil { self.tryNext() } } }

    private func lookUp(_ hints: inout addrinfo) {
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        // Retained until libuv calls back, which it does also after a cancel.
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let result = uv_getaddrinfo(
            self.loop.uv, request,
            { request, status, found in
                guard let request, let data = request.pointee.data else { return }
                let me = Unmanaged<Connector>.fromOpaque(data).takeRetainedValue()
                me.lookup = nil
                request.deallocate()
                me.resolved(status == 0 ? found : nil)
                if let found { uv_freeaddrinfo(found) }
            }, self.host, "\(self.port)", &hints)
        guard result == 0 else {
            Unmanaged<Connector>.fromOpaque(request.pointee.data).release()
            request.deallocate()
            return self.loop.later { [self] in self.finish(.failure(.unknownHost)) }
        }
        self.lookup = request
        self.awaitsName = true
    }

    /// Gives up; nothing is called back any more.
    package func cancel() {
        self.then = nil
        self.close()
    }

    private func resolved(_ found: UnsafeMutablePointer<addrinfo>?) {
        guard self.then != nil else { return }
        self.awaitsName = false
        self.keep(found)
        self.lookedUp = self.addresses.reversed()
        guard !self.addresses.isEmpty else { return self.finish(.failure(.unknownHost)) }
        self.tryNext()
    }

    private func keep(_ found: UnsafeMutablePointer<addrinfo>?) {
        var next = found
        while let info = next {
            var storage = sockaddr_storage()
            let length = info.pointee.ai_addrlen
            if let address = info.pointee.ai_addr, length <= socklen_t(MemoryLayout<sockaddr_storage>.size) {
                memcpy(&storage, address, Int(length))
                self.addresses.append(SocketAddress(storage: storage, length: length))
            }
            next = info.pointee.ai_next
        }
        self.addresses.reverse()
    }

    /// An address that does not answer must not take the time of those behind it.
    private func timeIsUp() {
        if self.addresses.isEmpty { self.finish(.failure(.timedOut)) } else { self.tryNext() }
    }

    private func tryNext() {
        self.closeSocket()
        guard let address = self.addresses.popLast() else { return self.finish(.failure(.refused)) }
        let now = self.loop.clock.monotonicTime()
        let share = (self.deadline - now).nanoseconds / Int64(self.addresses.count + 1)
        self.loop.arm(self.timer, at: now + TimeSpan(nanoseconds: max(0, share)))
        var storage = address.storage
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        self.descriptor = socket(Int32(storage.ss_family), kind, 0)
        guard self.descriptor >= 0 else { return self.finish(.failure(.refused)) }
        var on: Int32 = 1
        setsockopt(self.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        // A peer that vanished while a connection was idle is found out before somebody needs it.
        setsockopt(self.descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
        let result = withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(self.descriptor, $0, address.length) }
        }
        guard result == 0 || errno == EINPROGRESS else { return self.tryNext() }
        guard let watcher = try? Watcher(self.descriptor, on: self.loop) else { return self.tryNext() }
        self.watcher = watcher
        watcher.delegate = self
        watcher.watch(.writable)
    }

    package func watcher(_ watcher: Watcher, isReady readiness: Readiness) {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { return self.tryNext() }
        self.watcher?.close()
        self.watcher = nil
        let descriptor = FileDescriptor(owning: self.descriptor)
        self.descriptor = -1
        guard let stream = try? ByteStream(adopting: descriptor, on: self.loop) else {
            return self.finish(.failure(.refused))
        }
        self.finish(.success(stream))
    }

    private func finish(_ result: Result<ByteStream, ConnectFailure>) {
        let then = self.then
        self.then = nil
        self.close()
        then?(result)
    }

    private func close() {
        self.loop.remove(self.timer)
        // One that has not begun is taken out of the queue: names that hang would fill it.
        if let lookup = self.lookup {
            self.lookup = nil
            uv_cancel(UnsafeMutableRawPointer(lookup).assumingMemoryBound(to: uv_req_t.self))
        }
        self.closeSocket()
    }

    private func closeSocket() {
        self.watcher?.close()
        self.watcher = nil
        if self.descriptor >= 0 { Glibc.close(self.descriptor) }
        self.descriptor = -1
    }
}
