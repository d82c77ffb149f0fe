package import GatewayTypes
import Synchronization

/// What several threads write into.
package final class Box<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    package init(_ value: Value) { self.value = Mutex(value) }
    package var now: Value { self.value.withLock { $0 } }
    package func change(_ body: (inout sending Value) -> Void) { self.value.withLock { body(&$0) } }

    /// Waits until the value is as it should be; false when it is not in time.
    package func becomes(within limit: TimeSpan = .seconds(15), _ condition: (Value) -> Bool) -> Bool {
        Stopwatch.wait(upTo: limit) { condition(self.now) }
    }
}
