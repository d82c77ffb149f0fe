import GatewayTypes
import RedisClient

extension StoreSettings {
    var effective: EffectiveValue {
        guard case .redis(let redis) = self else { return .object([("kind", .string(self.kind))]) }
        var members: [(String, EffectiveValue)] = [("kind", .string(self.kind))]
        switch redis.topology {
        case .single(let address): members.append(("address", .string(address.description)))
        case .cluster(let seeds): members.append(("cluster", .strings(seeds.map(\.description))))
        case .sentinel(let master, let sentinels, _):
            members.append(
                (
                    "sentinel",
                    .object([
                        ("master", .string(master.string)), ("addresses", .strings(sentinels.map(\.description))),
                        ("user", .optional(redis.sentinelUser)),
                        ("password", .optional(redis.sentinelPassword?.source.description)),
                    ])
                ))
        }
        members += [
            ("user", .optional(redis.user)), ("password", .optional(redis.password?.source.description)),
            ("tls", redis.tls?.effective ?? .boolean(false)), ("database", .integer(redis.database)),
            ("connect_timeout", .string(Units.text(of: redis.connectTimeout))),
            ("timeout", .string(Units.text(of: redis.timeout))), ("instances", .integer(redis.instances)),
        ]
        return .object(members)
    }
}

extension RedisStoreSettings.TLSSettings {
    fileprivate var effective: EffectiveValue {
        .object([
            ("ca", .optional(self.authorityFile)), ("certificate", .optional(self.certificateFile)),
            ("key", .optional(self.keyFile)), ("server_name", .optional(self.serverName)),
        ])
    }
}
