import GatewayTypes

/// What keeps a client from its server, for whoever has to mend it: finer than `RedisFailure`, by which clients decide.
package struct RedisTrouble: Hashable, Sendable {
    /// One of a closed set.
    package enum Detail: Hashable, Sendable, MetricLabel {
        /// The host's name leads nowhere, or nobody says where in time.
        case nameNotFound
        /// Nobody listens there, or no way leads there.
        case connectionRefused
        case connectTimeout
        /// Connected, and then not a word in time.
        case noGreeting
        /// The server closed the connection before it was of use.
        case hungUp
        /// What came is no Redis: TLS perhaps, or another server.
        case notRedis
        /// Not the master that a sentinel said it is.
        case notAMaster
        /// The server runs without cluster support.
        case notACluster
        /// What the server itself says of it.
        case said(RedisServerError.Kind)
        case failure(RedisFailure)

        package var metricLabel: String {
            switch self {
            case .nameNotFound: "name_not_found"
            case .connectionRefused: "connection_refused"
            case .connectTimeout: "connect_timeout"
            case .noGreeting: "no_greeting"
            case .hungUp: "hung_up"
            case .notRedis: "not_redis"
            case .notAMaster: "not_a_master"
            case .notACluster: "not_a_cluster"
            case .said(.noAuth): "password_missing"
            case .said(.wrongPassword): "wrong_password"
            case .said(.noPermission): "no_permission"
            case .said(let kind): kind.rawValue.lowercased()
            case .failure(.unknownMaster): "no_such_master"
            case .failure(let failure): failure.metricLabel
            }
        }
    }

    /// The server, as it is configured or as the servers of the configuration name it.
    package var address: RedisAddress
    package var detail: Detail
}
