import GatewayTypes

/// What to do about an error that a server answered.
enum ReplyAction: Equatable {
    /// Ask the node that holds the slot now, and remember it.
    case move(slot: Int, RedisAddress)
    /// Ask the node that takes the slot over, for this once.
    case ask(RedisAddress)
    /// Not done; try again a little later.
    case retry(RedisFailure, refreshes: Bool)
    /// Not done; this server is the wrong one to write to: look for the right one, then try again.
    case rediscover(RedisFailure)
    /// Send the text of the script on the same connection.
    case sendText
    case fail(RedisFailure)
    /// The connection is of no use with these credentials.
    case failConnection(RedisFailure)
}

/// The table of what errors mean (Redis' own words; none of them but the last kind was executed).
enum ReplyPolicy {
    static let mostHops = 5

    static func action(for error: RedisServerError, from own: RedisAddress, hops: Int) -> ReplyAction {
        switch error.kind {
        case .moved, .ask:
            guard hops < Self.mostHops else { return .fail(.notServing) }
            guard let (slot, address) = error.redirection(from: own) else { return .fail(.malformedReply) }
            return error.kind == .ask ? .ask(address) : .move(slot: slot, address)
        case .tryAgain, .loading, .busy: return .retry(.notServing, refreshes: false)
        case .clusterDown: return .retry(.notServing, refreshes: true)
        case .readOnly, .masterDown: return .rediscover(.notServing)
        case .noScript: return .sendText
        case .outOfMemory, .misconfigured, .noReplicas: return .fail(.refusesWrites)
        case .noAuth, .wrongPassword: return .failConnection(.notPermitted)
        case .noPermission: return .fail(.notPermitted)
        case .crossSlot, .other: return .fail(.server(error))
        }
    }

    /// How long to wait before a call is sent again: 10 ms, doubled each time, 200 ms at most.
    static func backOff(_ times: Int) -> TimeSpan { .milliseconds(Int64(min(200, 10 << min(times, 5)))) }

    /// How long to wait before connecting again: 50 ms, doubled each time up to a second, half of it by chance.
    static func reconnect(_ times: Int, random: (ClosedRange<Int64>) -> Int64) -> TimeSpan {
        let most = Int64(min(1000, 50 << min(times, 5)))
        return .milliseconds(random(most / 2...most))
    }
}
