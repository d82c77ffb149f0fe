import GatewayTypes
import Glibc
import Synchronization
import Testing

@testable import EventLoops

/// Loops for the whole run; what a test puts on them it takes off again.
enum Loops {
    static let group = makeGroup(2)

    /// Tests cannot go on without.
    static func makeGroup(_ count: Int) -> EventLoopGroup {
        do { return try EventLoopGroup(count: count) } catch { preconditionFailure("no loop to be had: \(error)") }
    }
}

/// Runs the body on the loop's thread, where it stays across every await.
func on<Result: Sendable>(
    _ loop: EventLoop, _ body: @escaping @concurrent @Sendable () async throws -> Result
) async throws -> Result {
    try await withTaskExecutorPreference(loop) { try await body() }
}

/// Looks again every few milliseconds, on a loop so that no thread of Swift's own pool is held up.
func eventually(
    within limit: TimeSpan = .seconds(20), _ condition: @escaping @Sendable () -> Bool
) async throws -> Bool {
    let loop = Loops.group.loops[0]
    return try await on(loop) {
        let end = loop.clock.monotonicTime() + limit
        while !condition() {
            if loop.clock.monotonicTime() > end { return false }
            await loop.sleep(for: .milliseconds(5))
        }
        return true
    }
}

/// What several threads write into.
final class Box<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    var now: Value { self.value.withLock { $0 } }
    func change(_ body: (inout sending Value) -> Void) { self.value.withLock { body(&$0) } }
}

/// The other end of a stream under test: a plain blocking-free socket.
struct Peer: Sendable {
    let descriptor: Int32

    /// A connected pair over the loopback interface, where resets are real; both ends are the caller's to close.
    static func pair(sendBuffer: Int32? = nil) throws -> (ours: Int32, peer: Peer) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                bind(listener, raw, length) | listen(listener, 1) | getsockname(listener, raw, &length)
                    | connect(peer, raw, length)
            }
        }
        try #require(status == 0)
        let ours = accept(listener, nil, nil)
        try #require(ours >= 0)
        if var size = sendBuffer {
            setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        _ = fcntl(ours, F_SETFL, O_NONBLOCK)
        _ = fcntl(peer, F_SETFL, O_NONBLOCK)
        return (ours, Peer(descriptor: peer))
    }

    /// Sends what the kernel takes; the count of that.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int { Glibc.send(self.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// What has come so far, at most `most` bytes; nil at the end, an error number when the connection broke.
    func receive(most: Int = 1 << 20) -> (bytes: [UInt8], isEnd: Bool, failure: Int32) {
        var failure: Int32 = 0
        var isEnd = false
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            let got = recv(self.descriptor, buffer.baseAddress, most, 0)
            failure = got < 0 && errno != EAGAIN ? errno : 0
            isEnd = got == 0
            count = max(0, got)
        }
        return (bytes, isEnd, failure)
    }

    func finish() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    func close(reset: Bool = false) {
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(self.descriptor)
    }
}
