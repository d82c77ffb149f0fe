package import GatewayTypes
package import RedisClient

/// The scripts that decide in the store.
package enum QuotaScript: Int, CaseIterable, Sendable {
    case admit
    case look
    case settle
    case renew
    case steering
    case steer
    case leases
    case audit
    case revise
    case orders
    case handOver
    case claim
    case conclude
    case register
    case locate

    /// First element of every answer: the version that `prelude.lua` names. A store with scripts of another version
    /// in its cache is told by its digest, a proxy that answers something else by this.
    package static let version = 2

    /// The full text, with whatever it stands on.
    package var text: [UInt8] {
        switch self {
        case .admit: PackageResources.prelude_lua + PackageResources.limits_lua + PackageResources.admit_lua
        case .look: PackageResources.prelude_lua + PackageResources.limits_lua + PackageResources.look_lua
        case .settle: PackageResources.prelude_lua + PackageResources.settle_lua
        case .renew: PackageResources.prelude_lua + PackageResources.renew_lua
        case .steering: PackageResources.prelude_lua + PackageResources.steering_lua
        case .steer: PackageResources.prelude_lua + PackageResources.steer_lua
        case .leases: PackageResources.prelude_lua + PackageResources.leases_lua
        case .audit: PackageResources.prelude_lua + PackageResources.audit_lua
        case .revise: PackageResources.prelude_lua + PackageResources.book_lua + PackageResources.revise_lua
        case .orders: PackageResources.prelude_lua + PackageResources.orders_lua
        case .handOver: PackageResources.prelude_lua + PackageResources.book_lua + PackageResources.handover_lua
        case .claim: PackageResources.prelude_lua + PackageResources.claim_lua
        case .conclude: PackageResources.prelude_lua + PackageResources.conclude_lua
        case .register: PackageResources.prelude_lua + PackageResources.register_lua
        case .locate: PackageResources.prelude_lua + PackageResources.locate_lua
        }
    }

    /// A store without memory, or one that has become a replica, answers those that write nothing as if all were well.
    var mayWrite: Bool {
        switch self {
        case .admit, .settle, .renew, .steer, .revise, .handOver, .claim, .conclude, .register: true
        case .look, .steering, .leases, .audit, .orders, .locate: false
        }
    }

    /// Sent twice it does no more than sent once. A change of an operator does: it takes a version.
    package var isIdempotent: Bool { self != .steer && self != .revise }
}

/// One element of a script's answer.
package enum ScriptValue: Hashable, Sendable {
    case integer(Int)
    case text(ByteString)

    var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    var text: ByteString? { if case .text(let text) = self { text } else { nil } }
}

/// What the store needs of a client: it runs a script on the node that holds the keys, within a time of its own.
/// Everything happens on the loop that the store belongs to.
package protocol ScriptRunner: AnyObject {
    /// - Parameters:
    ///   - keys: all of one tenant.
    ///   - tag: the hash tag that they share, braces and all.
    ///   - then: called once, on the loop.
    func run(
        _ script: QuotaScript, keys: RedisWords, tag: ByteString, arguments: RedisWords,
        then: @escaping (Result<[ScriptValue], QuotaFailure>) -> Void)
}
