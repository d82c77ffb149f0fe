import GatewayTypes
import Synchronization

/// Holds each constant message to a rate, so that one trouble cannot flood the log.
final class MessageLimiter: Sendable {
    private struct Bucket {
        var tokens: Int
        var refilled: MonotonicTime
        var suppressed = 0
    }

    private static let burst = 20
    private static let refill = TimeSpan.seconds(3)

    // As many entries as there are messages in the program.
    private let buckets = Mutex([ByteString: Bucket]())

    /// Whether a line may be written: nil when not, else how many were held back since the last that was.
    func admit(_ message: StaticString, at now: MonotonicTime) -> Int? {
        self.buckets.withLock { buckets in
            let name = ByteString("\(message)")
            var bucket = buckets[name] ?? Bucket(tokens: Self.burst, refilled: now)
            let gained = max((now - bucket.refilled).nanoseconds / Self.refill.nanoseconds, 0)
            bucket.refilled = MonotonicTime(
                nanoseconds: bucket.refilled.nanoseconds &+ gained &* Self.refill.nanoseconds)
            bucket.tokens = min(bucket.tokens + Int(min(gained, Int64(Self.burst))), Self.burst)
            guard bucket.tokens > 0 else {
                bucket.suppressed += 1
                buckets[name] = bucket
                return nil
            }
            let suppressed = bucket.suppressed
            bucket.tokens -= 1
            bucket.suppressed = 0
            buckets[name] = bucket
            return suppressed
        }
    }
}
