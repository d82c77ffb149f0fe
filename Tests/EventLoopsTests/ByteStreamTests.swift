import GatewayTypes
import Glibc
import Testing

@testable import EventLoops

/// Keeps what a stream tells. On the loop, but for `text` and the other views of it.
final class Reader: ByteStreamDelegate, @unchecked Sendable {
    // Unchecked: the stream is touched on its loop only, all else is guarded by the box.
    struct Told: Sendable {
        var bytes: [UInt8] = []
        var ends: [Bool] = []
        var drains = 0
    }

    let loop: EventLoop
    private var stream: ByteStream?
    private let told = Box(Told())
    /// Called on the loop with the stream, behind every piece.
    private let onBytes: @Sendable (ByteStream) -> Void

    init(_ loop: EventLoop, onBytes: @escaping @Sendable (ByteStream) -> Void = { _ in }) {
        self.loop = loop
        self.onBytes = onBytes
    }

    /// Adopts the socket on the loop, and begins to read.
    static func on(
        _ loop: EventLoop, _ number: Int32, reads: Bool = true,
        onBytes: @escaping @Sendable (ByteStream) -> Void = { _ in }
    ) -> Reader {
        let reader = Reader(loop, onBytes: onBytes)
        loop.submit {
            guard let stream = try? ByteStream(adopting: FileDescriptor(owning: number), on: loop) else { return }
            stream.delegate = reader
            stream.setReading(reads)
            reader.stream = stream
        }
        return reader
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        self.told.change { $0.bytes.append(contentsOf: bytes) }
        if let stream = self.stream { self.onBytes(stream) }
    }

    func streamEnded(failed: Bool) { self.told.change { $0.ends.append(failed) } }
    func streamDrained() { self.told.change { $0.drains += 1 } }

    var now: Told { self.told.now }
    var text: String { String(decoding: self.told.now.bytes, as: UTF8.self) }

    /// Does something with the stream on its loop.
    func act(_ body: @escaping @Sendable (ByteStream) -> Void) {
        self.loop.submit { if let stream = self.stream { body(stream) } }
    }

    /// Reads something off the stream on its loop; nil once it is closed.
    func ask<Value: Sendable>(_ body: @escaping @Sendable (ByteStream) -> Value) async throws -> Value? {
        try await EventLoopsTests.on(self.loop) { self.stream.map(body) }
    }

    func close() {
        self.loop.submit {
            self.stream?.close()
            self.stream = nil
        }
    }
}

extension ByteStream {
    fileprivate func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.write($0) } }
}

@Suite("Byte stream")
struct ByteStreamTests {
    let loop = Loops.group.loops[1]

    @Test func `Bytes come as they were sent, and the end after them`() async throws {
        let (ours, peer) = try Peer.pair()
        let reader = Reader.on(self.loop, ours)
        peer.send(Array("one".utf8))
        #expect(try await eventually { reader.text == "one" })
        peer.send(Array(" two".utf8))
        peer.close()
        #expect(try await eventually { !reader.now.ends.isEmpty })
        #expect(reader.text == "one two")
        #expect(reader.now.ends == [false])
        reader.close()
    }

    @Test func `A half closed peer is still written to`() async throws {
        let (ours, peer) = try Peer.pair()
        defer { peer.close() }
        let reader = Reader.on(self.loop, ours)
        peer.finish()
        #expect(try await eventually { reader.now.ends == [false] })
        reader.act { $0.write(Array("answer".utf8)) }
        let got = Box("")
        #expect(
            try await eventually {
                got.change { $0 += String(decoding: peer.receive().bytes, as: UTF8.self) }
                return got.now == "answer"
            })
        reader.close()
        #expect(try await eventually { peer.receive().isEnd })
    }

    @Test func `A reset is told once, as a failure`() async throws {
        let (ours, peer) = try Peer.pair()
        let reader = Reader.on(self.loop, ours)
        peer.close(reset: true)
        #expect(try await eventually { reader.now.ends == [true] })
        try await on(self.loop) { [loop] in await loop.sleep(for: .milliseconds(30)) }
        #expect(reader.now.ends == [true])
        reader.close()
    }

    @Test(arguments: [10, 70_000, 300_000])
    func `A reset behind waiting bytes is seen after them`(count: Int) async throws {
        let (ours, peer) = try Peer.pair()
        let reader = Reader.on(self.loop, ours, reads: false)
        try await on(self.loop) {}
        let sent = peer.send(Array(repeating: 7, count: count))
        try #require(sent > 0)
        peer.close(reset: true)
        reader.act { $0.setReading(true) }
        #expect(try await eventually { !reader.now.ends.isEmpty })
        #expect(reader.now.ends == [true])
        reader.close()
    }

    @Test func `What does not fit is held, sent later in order, and its going told once`() async throws {
        let (ours, peer) = try Peer.pair(sendBuffer: 32768)
        defer { peer.close() }
        let reader = Reader.on(self.loop, ours)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        reader.act { stream in
            for start in stride(from: 0, to: bytes.count, by: 10_000) {
                stream.write(Array(bytes[start..<start + 10_000]))
            }
        }
        let held = try await reader.ask { ($0.pendingBytes, $0.sentBytes) }
        let (pending, sent) = try #require(held)
        #expect(pending > 0 && pending + sent == bytes.count)
        #expect(reader.now.drains == 0)
        let got = Box<[UInt8]>([])
        let isAllThere = try await eventually(within: .seconds(120)) {
            got.change { $0 += peer.receive().bytes }
            return got.now.count == bytes.count
        }
        // Compared here: the difference of two long arrays takes minutes to be told.
        let isSame = got.now == bytes
        #expect(isAllThere && isSame)
        #expect(try await eventually { reader.now.drains == 1 })
        let left = try await reader.ask { ($0.pendingBytes, $0.sentBytes) }
        #expect(left?.0 == 0 && left?.1 == bytes.count)
        reader.close()
    }

    @Test(arguments: [true, false])
    func `A peer that breaks while bytes are held is told once, and they are let go`(reads: Bool) async throws {
        let (ours, peer) = try Peer.pair(sendBuffer: 8192)
        let reader = Reader.on(self.loop, ours, reads: reads)
        reader.act { $0.write(Array(repeating: 1, count: 2_000_000)) }
        try await on(self.loop) {}
        peer.close(reset: true)
        #expect(try await eventually { reader.now.ends == [true] })
        let pending = try await reader.ask { $0.pendingBytes }
        #expect(pending == 0)
        #expect(reader.now.drains == 0)
        reader.act { $0.write(Array("too late".utf8)) }
        try await on(self.loop) {}
        #expect(reader.now.ends == [true])
        reader.close()
    }

    @Test(arguments: [true, false])
    func `What a peer said before it broke is read, whoever meets the break first`(holds: Bool) async throws {
        let (ours, peer) = try Peer.pair(sendBuffer: 8192)
        let reader = Reader.on(self.loop, ours)
        // All of it in one turn of the loop.
        reader.act { stream in
            if holds { stream.write(Array(repeating: 1, count: 2_000_000)) }
            peer.send(Array("too much".utf8))
            peer.close(reset: true)
            usleep(20_000)
            if !holds {
                stream.write([1])
                stream.write([2])
            }
        }
        #expect(try await eventually { !reader.now.ends.isEmpty })
        #expect(reader.text == "too much")
        #expect(reader.now.ends == [true] && reader.now.drains == 0)
        reader.close()
    }

    @Test func `A stream knows whether its peer has spoken or gone, and takes nothing for that`() async throws {
        let (ours, peer) = try Peer.pair()
        let reader = Reader.on(self.loop, ours, reads: false)
        #expect(try await reader.ask { $0.isSilent } == true)
        peer.send([7])
        try await self.hears(reader)
        reader.act { $0.setReading(true) }
        #expect(try await eventually { reader.now.bytes == [7] })
        #expect(try await reader.ask { $0.isSilent } == true)
        reader.act { $0.setReading(false) }
        peer.close()
        try await self.hears(reader)
        reader.close()
    }

    /// Waits until something has come over the wire.
    private func hears(_ reader: Reader) async throws {
        for _ in 0..<1000 where try await reader.ask({ $0.isSilent }) == true {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await reader.ask { $0.isSilent } == false)
    }

    @Test func `A stream that does not read leaves the peer's bytes in the kernel`() async throws {
        let (ours, peer) = try Peer.pair(sendBuffer: 32768)
        defer { peer.close() }
        let reader = Reader.on(self.loop, ours) { $0.setReading(false) }
        var sent = 0
        for _ in 0..<200 { sent += max(0, peer.send(Array(repeating: 1, count: 65536))) }
        try await on(self.loop) { [loop] in await loop.sleep(for: .milliseconds(50)) }
        #expect(reader.now.bytes.count <= 65536)
        #expect(reader.now.bytes.count < sent)
        let before = reader.now.bytes.count
        reader.act { $0.setReading(true) }
        #expect(try await eventually { reader.now.bytes.count > before })
        reader.close()
    }

    @Test func `Closing inside a callback ends the callbacks`() async throws {
        let (ours, peer) = try Peer.pair()
        defer { peer.close() }
        let reader = Reader.on(self.loop, ours) { $0.close() }
        peer.send(Array(repeating: 1, count: 200_000))
        #expect(try await eventually { !reader.now.bytes.isEmpty })
        try await on(self.loop) { [loop] in await loop.sleep(for: .milliseconds(30)) }
        #expect(reader.now.bytes.count <= 65536)
        #expect(reader.now.ends.isEmpty)
        let state = try await reader.ask { ($0.isOpen, $0.pendingBytes) }
        #expect(state?.0 == false)
        reader.close()
    }

    @Test(arguments: [false, true]) func `The peer sees how a stream was closed`(reset: Bool) async throws {
        let (ours, peer) = try Peer.pair()
        defer { peer.close() }
        let reader = Reader.on(self.loop, ours)
        reader.act { $0.close(reset: reset) }
        let last = Box((isEnd: false, failure: Int32(0)))
        #expect(
            try await eventually {
                let got = peer.receive()
                last.change { $0 = (got.isEnd, got.failure) }
                return got.isEnd || got.failure != 0
            })
        #expect(last.now.isEnd == !reset)
        #expect(last.now.failure == (reset ? ECONNRESET : 0))
    }

    @Test func `Ending our side leaves the other open`() async throws {
        let (ours, peer) = try Peer.pair()
        defer { peer.close() }
        let reader = Reader.on(self.loop, ours)
        reader.act { stream in
            stream.write(Array("bye".utf8))
            stream.endWriting()
        }
        #expect(try await eventually { peer.receive().isEnd })
        peer.send(Array("still here".utf8))
        #expect(try await eventually { reader.text == "still here" })
        reader.close()
    }
}
