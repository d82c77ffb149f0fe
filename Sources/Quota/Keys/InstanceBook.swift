package import GatewayTypes

/// Which instances of the gateway live, and where others reach them.
package protocol InstanceBook: Sendable {
    /// Says that an instance lives; forgotten after `lifetime` unless it is said again.
    ///
    /// - Parameter address: of its internal listener; empty for an instance that has none.
    func register(_ instance: UInt32, at address: ByteString, lifetime: TimeSpan) async throws(QuotaFailure)

    /// Where an instance is reached; empty when it has no internal listener, nil when it is gone.
    func address(of instance: UInt32) async throws(QuotaFailure) -> ByteString?
}
