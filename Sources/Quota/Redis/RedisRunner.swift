package import GatewayTypes
package import RedisClient

/// Runs the store's scripts over one loop's Redis client.
package final class RedisRunner: ScriptRunner {
    private let redis: Redis
    private let clock: any GatewayTypes.Clock
    private let measure: (QuotaScript, TimeSpan) -> Void
    /// By the raw value of the script.
    private let scripts = QuotaScript.allCases.map { RedisScript($0.text) }

    /// - Parameter measure: told how long each answer took; on the loop.
    package init(_ redis: Redis, clock: any GatewayTypes.Clock, measure: @escaping (QuotaScript, TimeSpan) -> Void) {
        self.redis = redis
        self.clock = clock
        self.measure = measure
    }

    package var trouble: StoreHealth.Trouble? {
        self.redis.state.trouble.map { .init(address: $0.address.description, metricLabel: $0.detail.metricLabel) }
    }

    package func run(
        _ script: QuotaScript, keys: RedisWords, tag: ByteString, arguments: RedisWords,
        then: @escaping (Result<[ScriptValue], QuotaFailure>) -> Void
    ) {
        let start = self.clock.monotonicTime()
        self.redis.evaluate(
            self.scripts[script.rawValue], keys: keys, tag: tag, arguments: arguments,
            idempotent: script.isIdempotent
        ) { result in
            switch result {
            case .success(let reply):
                self.measure(script, self.clock.monotonicTime() - start)
                then(Self.values(reply))
            case .failure(let failure): then(.failure(QuotaFailure(failure)))
            }
        }
    }

    private static func values(_ reply: RedisReply) -> Result<[ScriptValue], QuotaFailure> {
        if case .bulk(let bytes) = reply {
            return ScriptValue.list(packed: bytes).map { .success($0) } ?? .failure(.malformedAnswer)
        }
        guard let items = reply.array else { return .failure(.malformedAnswer) }
        var values: [ScriptValue] = []
        values.reserveCapacity(items.count)
        for item in items {
            switch item {
            case .integer(let number): values.append(.integer(number))
            case .bulk(let bytes), .status(let bytes):
                guard let text = ByteString(utf8: bytes) else { return .failure(.malformedAnswer) }
                values.append(.text(text))
            case .null, .array, .error: return .failure(.malformedAnswer)
            }
        }
        return .success(values)
    }
}

extension QuotaFailure {
    init(_ failure: RedisFailure) {
        switch failure {
        case .timedOut: self = .timedOut
        case .unreachable, .tls, .noSentinel, .stopped: self = .unreachable
        case .connectionLost: self = .disconnected
        case .overloaded: self = .overloaded
        case .notPermitted: self = .notPermitted
        case .notServing, .refusesWrites, .unknownMaster: self = .notServing
        case .malformedReply, .server: self = .malformedAnswer
        }
    }
}
