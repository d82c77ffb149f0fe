import GatewayTypes

extension Redis {
    /// Hears of a failover at once, also of one from a master that still works but was put out of office behind our back.
    ///
    /// Only a hint: whoever is named is asked for its role like any other, and the sentinels are asked when it is none.
    func listenForSwitches() -> RedisSubscriber? {
        guard case .sentinel(let name, let sentinels, _) = self.settings.topology else { return nil }
        var settings = self.settings
        // Any of them will do, and the next one when it goes.
        settings.topology = .cluster(seeds: sentinels)
        settings.login = settings.sentinelLogin
        settings.database = 0
        let hear: @Sendable (RedisSubscriber.Event) -> Void = { [unowned self] event in
            switch event {
            // What was said before is not known.
            case .established: self.find()
            case .message(_, let payload):
                if let address = SentinelFinder.newMaster(of: name, in: payload) { self.found(address) }
            case .lost: break
            }
        }
        let switches = RedisSubscriber(settings, channels: ["+switch-master"], loop: self.loop, hear: hear)
        switches.start()
        return switches
    }
}
