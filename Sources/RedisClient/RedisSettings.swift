package import GatewayTypes
import Synchronization
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

/// What a client logs in with, which may change while it runs: each new connection takes what holds then.
package final class RedisLogin: Sendable {
    private let now: Mutex<RedisCredentials?>

    package init(_ credentials: RedisCredentials? = nil) { self.now = Mutex(credentials) }

    package var credentials: RedisCredentials? { self.now.withLock { $0 } }

    /// From any thread. Connections that stand stay as they are, as the servers let them.
    package func change(to credentials: RedisCredentials?) { self.now.withLock { $0 = credentials } }
}

/// How the servers are laid out.
package enum RedisTopology: Hashable, Sendable {
    case single(RedisAddress)
    /// - Parameters:
    ///   - master: the name under which the sentinels know the master.
    ///   - credentials: for the sentinels, which have their own; those to begin with.
    case sentinel(master: ByteString, sentinels: [RedisAddress], credentials: RedisCredentials?)
    /// - Parameter seeds: some of the nodes; the rest is learned from them.
    case cluster(seeds: [RedisAddress])
}

/// Everything a client has to know.
package struct RedisSettings: Sendable {
    package var topology: RedisTopology
    package var login: RedisLogin
    /// At the sentinels.
    package var sentinelLogin: RedisLogin
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
        self.login = RedisLogin(credentials)
        self.sentinelLogin = RedisLogin()
        if case .sentinel(_, _, let credentials) = topology { self.sentinelLogin.change(to: credentials) }
        self.tls = tls
        self.database = database
        self.clientName = clientName
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.mostCalls = mostCalls
    }
}
