package import GatewayTypes
package import RedisClient

/// Where counters live.
package enum StoreSettings: Sendable, Hashable {
    /// In this process; lost when it ends.
    case memory
    case redis(RedisStoreSettings)

    package var kind: String {
        switch self {
        case .memory: "memory"
        case .redis: "redis"
        }
    }

    /// The same without users and passwords, which a reload takes.
    var withoutLogins: StoreSettings {
        guard case .redis(var redis) = self else { return self }
        (redis.user, redis.password, redis.sentinelUser, redis.sentinelPassword) = (nil, nil, nil, nil)
        return .redis(redis)
    }
}

/// Counters in Redis, shared by all instances that name the same.
package struct RedisStoreSettings: Sendable, Hashable {
    /// Credentials of sentinels stand in `sentinelUser` and `sentinelPassword`, not in here.
    package var topology: RedisTopology
    package var user: String?
    package var password: ResolvedSecret?
    package var sentinelUser: String?
    package var sentinelPassword: ResolvedSecret?
    /// Nil for plain TCP.
    package var tls: TLSSettings?
    package var database = 0
    /// For a connection, greeting included.
    package var connectTimeout = TimeSpan.milliseconds(500)
    /// For a decision; after it each limit's own stance decides.
    package var timeout = TimeSpan.milliseconds(50)
    /// Instances expected to share the store: a limit of stance `local` is divided by it.
    package var instances = 1

    package struct TLSSettings: Sendable, Hashable {
        /// PEM file of the authorities; nil for the system's.
        package var authorityFile: String?
        package var certificateFile: String?
        package var keyFile: String?
        package var serverName: String?
    }

    init(topology: RedisTopology) { self.topology = topology }
}
