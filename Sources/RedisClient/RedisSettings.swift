package import GatewayTypes
package import TLS

/// Where a Redis server listens.
package struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16 = 6379) {
        self.host = host
        self.port = port
    }

    package var description: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}

/// How a client shows itself to a server; prints as redacted.
package struct RedisCredentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The ACL user; nil for the default one.
    package var user: ByteString?
    package var password: ByteString

    package init(user: ByteString? = nil, password: ByteString) {
        self.user = user
        self.password = password
    }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// How the servers are laid out.
package enum RedisTopology: Hashable, Sendable {
    case single(RedisAddress)
    /// - Parameters:
    ///   - master: the name under which the sentinels know the master.
    ///   - credentials: for the sentinels, which have their own.
    case sentinel(master: ByteString, sentinels: [RedisAddress], credentials: RedisCredentials?)
    /// - Parameter seeds: some of the nodes; the rest is learned from them.
    case cluster(seeds: [RedisAddress])
}

/// Everything a client has to know.
package struct RedisSettings: Sendable {
    package var topology: RedisTopology
    package var credentials: RedisCredentials?
    /// Nil for plain TCP. Sentinels are asked over the same.
    package var tls: TLSClientContext?
    /// Selected after connecting; a cluster has none but 0.
    package var database: Int
    /// Shown in `CLIENT LIST`; no spaces.
    package var clientName: ByteString
    /// For one address, handshake and greeting included.
    package var connectTimeout: TimeSpan
    /// For a call, from being asked to its answer, every retry included.
    package var commandTimeout: TimeSpan
    /// Calls that may be under way on one client; beyond it they fail at once.
    package var mostCalls: Int

    package init(
        topology: RedisTopology, credentials: RedisCredentials? = nil, tls: TLSClientContext? = nil, database: Int = 0,
        clientName: ByteString = "askgate", connectTimeout: TimeSpan = .milliseconds(500),
        commandTimeout: TimeSpan = .milliseconds(50), mostCalls: Int = 16384
    ) {
        self.topology = topology
        self.credentials = credentials
        self.tls = tls
        self.database = database
        self.clientName = clientName
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.mostCalls = mostCalls
    }
}
