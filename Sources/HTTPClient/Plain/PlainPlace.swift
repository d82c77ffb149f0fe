import EventLoops
import GatewayTypes

/// Connections to one peer that wait for a call. On the loop.
final class PlainPlace {
    /// A connection that nobody uses. Whatever its peer says or does makes it useless.
    private final class Idle: ByteStreamDelegate {
        let stream: ByteStream
        let since: MonotonicTime
        private unowned let place: PlainPlace

        init(_ stream: ByteStream, since: MonotonicTime, in place: PlainPlace) {
            self.stream = stream
            self.since = since
            self.place = place
        }

        func streamReceived(_ bytes: UnsafeRawBufferPointer) { self.place.drop(self) }
        func streamEnded(failed: Bool) { self.place.drop(self) }
        func streamDrained() {}
    }

    /// Longer than that a peer, or a firewall on the way, may have forgotten a connection.
    private static let oldest = TimeSpan.seconds(118)
    private static let most = 4096

    /// How long a name's addresses are taken as they were.
    private static let addressLife = TimeSpan.seconds(60)

    private var idle: [Idle] = []
    private var found: [SocketAddress] = []
    private var foundAt = MonotonicTime(nanoseconds: 0)

    deinit { for connection in self.idle { connection.stream.close() } }

    /// Calls that may bring a connection back.
    var openCalls = 0
    var isUnused: Bool { self.idle.isEmpty && self.openCalls == 0 }

    /// The connection that was used last; the caller becomes its delegate. None on which something lies unread, which
    /// the next request would be given as its answer, or whose peer has gone.
    func take(now: MonotonicTime) -> ByteStream? {
        while let connection = self.idle.popLast() {
            if now - connection.since < Self.oldest, connection.stream.isSilent { return connection.stream }
            connection.stream.close()
        }
        return nil
    }

    /// Takes a connection back that is between two messages.
    func give(_ stream: ByteStream, now: MonotonicTime) {
        guard self.idle.count < Self.most else { return stream.close() }
        // Those at the front are the oldest: a burst must not leave its connections behind for ever.
        let expired = self.idle.prefix { now - $0.since >= Self.oldest }
        for connection in expired { connection.stream.close() }
        self.idle.removeFirst(expired.count)
        let connection = Idle(stream, since: now, in: self)
        stream.delegate = connection
        stream.setReading(true)
        self.idle.append(connection)
    }

    // MARK: Addresses

    /// Those a name led to a while ago, so that a burst of connections need not look it up each; none for a number.
    func addresses(now: MonotonicTime) -> [SocketAddress] {
        now - self.foundAt < Self.addressLife ? self.found : []
    }

    func keep(_ addresses: [SocketAddress], now: MonotonicTime) {
        guard !addresses.isEmpty else { return }
        self.found = addresses
        self.foundAt = now
    }

    /// Nobody answers there.
    func forgetAddresses() { self.found = [] }

    private func drop(_ connection: Idle) {
        connection.stream.close()
        self.idle.removeAll { $0 === connection }
    }
}
