import Glibc

/// Told what happens on a stream. On the loop.
package protocol ByteStreamDelegate: AnyObject {
    /// Bytes came; they are lent for the length of the call.
    func streamReceived(_ bytes: UnsafeRawBufferPointer)
    /// The peer ended its side (`failed` false) or the connection broke (`failed` true). Nothing more comes.
    func streamEnded(failed: Bool)
    /// All that was held back for a slow peer has been sent, or let go since the peer can take nothing any more.
    func streamDrained()
}

/// A connected socket. On its loop, all of it.
///
/// Writes go to the kernel at once; what does not fit is held and sent when the peer takes more. The owner looks at
/// `pendingBytes` and stops producing, since a stream never drops and never blocks.
package final class ByteStream: WatcherDelegate {
    /// Has to close the stream before it goes.
    package unowned var delegate: (any ByteStreamDelegate)?
    private let loop: EventLoop
    private let watcher: Watcher
    private var descriptor: Int32
    private var held: [UInt8] = []
    /// Bytes the kernel has taken since the connection began.
    package private(set) var sentBytes = 0
    private var heldStart = 0
    private var wantsRead = false
    private var isReadEnded = false
    /// The peer takes nothing any more; what it had sent before is still read.
    private var isWriteBroken = false
    /// Most bytes taken in one turn of the loop.
    package var readLimit = 65536

    /// Adopts a connected, non-blocking socket.
    package init(adopting descriptor: consuming FileDescriptor, on loop: EventLoop) throws(SystemFailure) {
        self.loop = loop
        self.watcher = try Watcher(descriptor.number, on: loop)
        self.descriptor = descriptor.take()
        self.watcher.delegate = self
    }

    deinit { self.close() }

    /// Bytes held for a peer that takes them slowly.
    package var pendingBytes: Int { self.held.count - self.heldStart }
    package var isOpen: Bool { self.descriptor >= 0 }

    /// Starts or stops taking bytes from the peer. While stopped, the peer's going away is not seen either.
    package func setReading(_ on: Bool) {
        self.wantsRead = on
        self.updateInterest()
    }

    private func updateInterest() {
        guard self.isOpen else { return }
        var wanted: Readiness = []
        if self.wantsRead, !self.isReadEnded { wanted.insert(.readable) }
        if self.pendingBytes > 0 { wanted.insert(.writable) }
        self.watcher.watch(wanted)
    }

    package func watcher(_ watcher: Watcher, isReady readiness: Readiness) {
        // Before the write, which would meet a broken connection first: what the peer had to say lies before that.
        if readiness.contains(.readable), self.wantsRead, !self.isReadEnded { self.readOnce() }
        if readiness.contains(.writable) { self.flushHeld() }
    }

    /// Whether the peer has neither said anything that is not read yet nor gone away. A call of the kernel.
    package var isSilent: Bool {
        guard self.isOpen, !self.isReadEnded else { return false }
        var byte: UInt8 = 0
        return recv(self.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0
            && Self.isTransient(errno)
    }

    private func readOnce() {
        let whole = self.loop.readBuffer
        let buffer = UnsafeMutableRawBufferPointer(rebasing: whole[..<min(self.readLimit, whole.count)])
        let count = Glibc.read(self.descriptor, buffer.baseAddress, buffer.count)
        if count > 0 {
            self.delegate?.streamReceived(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        } else if count == 0 || !Self.isTransient(errno) {
            self.isReadEnded = true
            if count < 0 {
                self.isWriteBroken = true
                self.held = []
                self.heldStart = 0
            }
            self.updateInterest()
            // A write that failed has taken the connection's error with it, and the end looks like a clean one.
            self.delegate?.streamEnded(failed: count < 0 || self.isWriteBroken)
        }
    }

    private static func isTransient(_ code: Int32) -> Bool { code == EAGAIN || code == EINTR || code == EWOULDBLOCK }

    /// Sends bytes, or holds those that do not fit now. Bytes for a broken peer are dropped; `streamEnded` tells,
    /// where the stream is read from behind all that had come before.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard self.isOpen, !self.isWriteBroken, !bytes.isEmpty else { return }
        var sent = 0
        if self.pendingBytes == 0 {
            let count = Glibc.send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            guard count >= 0 || Self.isTransient(errno) else { return self.writeFailed() }
            sent = max(0, count)
            self.sentBytes &+= sent
            if sent == bytes.count { return }
        }
        self.held.append(contentsOf: bytes[sent...])
        self.updateInterest()
    }

    private func flushHeld() {
        guard self.isOpen, self.pendingBytes > 0 else { return }
        let count = self.held.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[self.heldStart...])
            return Glibc.send(self.descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
        guard count >= 0 || Self.isTransient(errno) else { return self.writeFailed() }
        self.heldStart += max(0, count)
        self.sentBytes &+= max(0, count)
        guard self.heldStart == self.held.count else { return self.compact() }
        self.held = []
        self.heldStart = 0
        self.updateInterest()
        self.delegate?.streamDrained()
    }

    private func compact() {
        // What is left moves: no more often than as much as it has gone.
        guard self.heldStart > 65536, self.heldStart > self.held.count / 2 else { return }
        self.held.removeFirst(self.heldStart)
        self.heldStart = 0
    }

    private func writeFailed() {
        let wasHolding = self.pendingBytes > 0
        self.isWriteBroken = true
        self.held = []
        self.heldStart = 0
        // The end will be read, behind what lies before it.
        if self.wantsRead, !self.isReadEnded { return self.updateInterest() }
        guard !self.isReadEnded else {
            self.updateInterest()
            // The end was told before; that nothing is held any more is news.
            if wasHolding { self.delegate?.streamDrained() }
            return
        }
        self.isReadEnded = true
        self.updateInterest()
        self.delegate?.streamEnded(failed: true)
    }

    /// Ends our side after what is held; the peer may still send.
    package func endWriting() {
        guard self.isOpen, self.pendingBytes == 0 else { return }
        Glibc.shutdown(self.descriptor, Int32(SHUT_WR))
    }

    /// Closes now; with `reset` the peer sees a broken connection, never a clean end.
    package func close(reset: Bool = false) {
        guard self.isOpen else { return }
        self.watcher.close()
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(self.descriptor)
        self.descriptor = -1
        self.held = []
        self.heldStart = 0
    }
}
