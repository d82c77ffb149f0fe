package import Gateway
package import GatewayTypes

/// A whole configuration: checked, every default filled in, every secret fetched.
///
/// Plain values only. The joining targets compile it into their own forms.
package struct ConfigurationDocument: Sendable {
    package var listeners: ListenerSettings
    /// Event loops, one thread each; nil means one for each core.
    package var loops: Int?
    package var store: StoreSettings
    package var log: LogSettings
    package var http: HTTPSettings
    package var identity = IdentitySettings()
    package var questions = QuestionSettings()
    /// Who may use the admin API, in the order of the file; empty closes it.
    package var operators: [OperatorSettings]
    /// In the order of the file, as are the tenants.
    package var providers: [ProviderSettings]
    package var tenants: [TenantSettings]
}

/// Where the program listens; at least one is there.
package struct ListenerSettings: Sendable, Hashable {
    package var api: ListenerAddress?
    package var admin: ListenerAddress?
    /// Where other instances ask for questions that this one holds; nil forwards nothing, and takes nothing.
    package var hop: HopSettings?
}

/// The listener `internal`, and how the instances know each other.
package struct HopSettings: Sendable, Hashable {
    package var listener: ListenerAddress
    /// Host and port by which the others reach it; nil is the address it is bound to.
    package var advertised: String?
    /// One, or two while it is changed: the first signs, both are believed.
    package var secrets: [ResolvedSecret]

    /// Without what a reload takes over.
    package var withoutSecrets: HopSettings {
        var settings = self
        settings.secrets = []
        return settings
    }
}

package struct ListenerAddress: Sendable, Hashable, CustomStringConvertible {
    /// An IPv4 or IPv6 address in text form.
    package var address: String
    /// 0 takes any free port.
    package var port: UInt16

    package init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }

    package var description: String {
        self.address.utf8.contains(0x3A) ? "[\(self.address)]:\(self.port)" : "\(self.address):\(self.port)"
    }
}

package struct LogSettings: Sendable, Hashable {
    /// Where access records go.
    package enum Sink: Sendable, Hashable {
        case stdout
        case stderr
        /// Absolute, or relative to the working directory of the process when the configuration itself is.
        case file(String)
        case none
    }

    package var access: Sink
}

/// Limits and timeouts of the api listener.
package struct HTTPSettings: Sendable, Hashable {
    /// Bytes of the request line.
    package var maxRequestLine = 8192
    package var maxHeaderFields = 100
    /// Bytes of all header fields together.
    package var maxHeaderBytes = 32_768
    package var maxHeaderName = 256
    package var maxHeaderValue = 16_384
    package var maxBodyBytes = 262_144
    package var maxConnections = 8192
    /// Bytes a second that a request body must bring after `bodyGrace`.
    package var minBodyRate = 500

    /// For the whole head, from the first byte.
    package var headTimeout = TimeSpan.seconds(10)
    /// Between the requests of a connection.
    package var idleTimeout = TimeSpan.seconds(60)
    package var bodyGrace = TimeSpan.seconds(5)
    /// Without progress of a write.
    package var writeStallTimeout = TimeSpan.seconds(30)

    /// How long a draining process still takes new connections.
    package var drainDelay = TimeSpan.seconds(0)
    /// How long running asks may go on after that.
    package var drainDeadline = TimeSpan.seconds(30)
    /// Between the comments that keep a silent stream open.
    package var heartbeat = TimeSpan.seconds(15)
    /// Peers whose `X-Forwarded-For` or `Forwarded` is believed.
    package var trustedProxies: [NetworkPrefix] = []
    /// Failed authentications of one network address in a minute; 0 for any number.
    package var failedAuthentications = 3000

    package init() {}
}
