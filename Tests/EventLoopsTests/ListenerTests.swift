import GatewayTypes
import Glibc
import Synchronization
import Testing

@testable import EventLoops

/// A listener whose connections are kept open and counted until the test ends.
private final class Guests: Sendable {
    struct Guest: Sendable {
        let descriptor: Int32
        let loop: Int
        let peer: PeerAddress
        let onItsLoop: Bool
    }

    let group: EventLoopGroup
    let listener: Listener
    let guests: Box<[Guest]>

    init(_ group: EventLoopGroup, address: String = "127.0.0.1", most: Int = .max) throws {
        let guests = Box<[Guest]>([])
        self.group = group
        self.guests = guests
        self.listener = try Listener(address: address, port: 0, group: group, maxConnections: most) {
            descriptor, peer, loop in
            let guest = Guest(
                descriptor: descriptor.take(), loop: loop.index, peer: peer, onItsLoop: loop.isCurrent)
            guests.change { $0.append(guest) }
        }
        self.listener.start()
    }

    /// Closes one connection as its owner would.
    func leave() {
        guard let guest = self.guests.now.last else { return }
        self.guests.change { _ = $0.popLast() }
        close(guest.descriptor)
        self.group.loops[guest.loop].connectionCount.subtract(1, ordering: .relaxed)
    }

    func end() {
        self.listener.close()
        while !self.guests.now.isEmpty { self.leave() }
        self.group.shutDown()
    }
}

private func connectTo(_ port: Int, family: Int32 = AF_INET) -> Int32 {
    let number = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    var status: Int32
    if family == AF_INET {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    } else {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        address.sin6_addr = in6addr_loopback
        status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
    guard status == 0 else {
        close(number)
        return -1
    }
    return number
}

@Suite("Listener")
struct ListenerTests {
    @Test func `Connections are spread evenly over the loops, each handled on its own`() async throws {
        let guests = try Guests(Loops.makeGroup(3))
        defer { guests.end() }
        let clients = (0..<60).map { _ in connectTo(guests.listener.port) }
        defer { for client in clients { close(client) } }
        #expect(try await eventually { guests.guests.now.count == 60 })
        for index in 0..<3 { #expect(guests.guests.now.count { $0.loop == index } == 20) }
        #expect(guests.guests.now.allSatisfy { $0.onItsLoop })
        #expect(guests.guests.now.allSatisfy { $0.peer.description == "127.0.0.1" })
    }

    @Test func `The loop with the fewest connections gets the next one`() async throws {
        let guests = try Guests(Loops.makeGroup(2))
        defer { guests.end() }
        guests.group.loops[0].connectionCount.add(5, ordering: .relaxed)
        defer { guests.group.loops[0].connectionCount.subtract(5, ordering: .relaxed) }
        let clients = (0..<5).map { _ in connectTo(guests.listener.port) }
        defer { for client in clients { close(client) } }
        #expect(try await eventually { guests.guests.now.count == 5 })
        #expect(guests.guests.now.allSatisfy { $0.loop == 1 })
    }

    @Test func `More connections than may be open wait until one has gone`() async throws {
        let guests = try Guests(Loops.makeGroup(2), most: 3)
        defer { guests.end() }
        let clients = (0..<5).map { _ in connectTo(guests.listener.port) }
        defer { for client in clients { close(client) } }
        #expect(try await eventually { guests.guests.now.count == 3 })
        try await on(Loops.group.loops[0]) { await Loops.group.loops[0].sleep(for: .milliseconds(150)) }
        #expect(guests.guests.now.count == 3)
        guests.leave()
        guests.leave()
        #expect(try await eventually { guests.guests.now.count == 3 })
    }

    @Test func `A closed listener refuses, and what it accepted lives on`() async throws {
        let guests = try Guests(Loops.makeGroup(1))
        defer { guests.end() }
        let client = connectTo(guests.listener.port)
        defer { close(client) }
        #expect(try await eventually { guests.guests.now.count == 1 })
        guests.listener.close()
        let port = guests.listener.port
        #expect(
            try await eventually {
                let late = connectTo(port)
                if late >= 0 { close(late) }
                return late < 0
            })
        let guest = try #require(guests.guests.now.first)
        #expect(send(guest.descriptor, "x", 1, Int32(MSG_NOSIGNAL)) == 1)
    }

    @Test func `An address that is taken or none is told with the system's own word`() throws {
        let guests = try Guests(Loops.makeGroup(1))
        defer { guests.end() }
        do throws(SystemFailure) {
            _ = try Listener(address: "127.0.0.1", port: guests.listener.port, group: guests.group) { _, _, _ in }
            Issue.record("bound twice")
        } catch {
            #expect(error.code == EADDRINUSE)
            #expect(error.description.contains("bind"))
        }
        #expect(throws: SystemFailure.self) {
            try Listener(address: "not.an.address", port: 0, group: guests.group) { _, _, _ in }
        }
    }

    @Test func `A listener that is dropped before it began gives its address back`() throws {
        let group = Loops.makeGroup(1)
        defer { group.shutDown() }
        var first: Listener? = try Listener(address: "127.0.0.1", port: 0, group: group) { _, _, _ in }
        let port = try #require(first?.port)
        first = nil
        let second = try Listener(address: "127.0.0.1", port: port, group: group) { _, _, _ in }
        #expect(second.port == port)
    }

    @Test func `An IPv4 client of an IPv6 listener has its IPv4 address`() async throws {
        guard let guests = try? Guests(Loops.makeGroup(1), address: "::") else { return }
        defer { guests.end() }
        let old = connectTo(guests.listener.port)
        let new = connectTo(guests.listener.port, family: AF_INET6)
        defer {
            close(old)
            close(new)
        }
        #expect(try await eventually { guests.guests.now.count == (new < 0 ? 1 : 2) })
        #expect(guests.guests.now.first?.peer.bytes == [127, 0, 0, 1])
        if new >= 0 { #expect(guests.guests.now.last?.peer.description == "0:0:0:0:0:0:0:1") }
    }

    @Test func `Running out of descriptors holds connections up and loses none`() async {
        await #expect(processExitsWith: .success) {
            let guests = try Guests(Loops.makeGroup(1))
            _ = Loops.group
            let clients = (0..<20).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit
            // The process may have inherited descriptors with gaps between them: all are filled.
            let highest = (0..<Int32(4096)).last { fcntl($0, F_GETFD) >= 0 } ?? 2
            var last: Int32
            repeat { last = dup(clients[0]) } while (0..<highest).contains(last)
            // Room for about five more than there are.
            limit.rlim_cur = rlim_t(try #require(last >= 0 ? last : nil) + 6)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            for client in clients {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = in_port_t(guests.listener.port).bigEndian
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                _ = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }
            let some = try await eventually { guests.guests.now.count >= 1 }
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            let busy = usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000
            try await on(Loops.group.loops[0]) { await Loops.group.loops[0].sleep(for: .milliseconds(400)) }
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            let waited = usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000 - busy
            let held = guests.guests.now.count < 20
            var after = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &after)
            let all = try await eventually { guests.guests.now.count == 20 }
            // A loop that spins would have taken all of the time.
            exit((some ? 0 : 1) + (held ? 0 : 2) + (waited < 200 ? 0 : 4) + (all ? 0 : 8))
        }
    }
}
