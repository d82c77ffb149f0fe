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
        let prelude = PackageResources.prelude_lua
        let tools = prelude + PackageResources.tools_lua
        let reading = prelude + PackageResources.reading_lua
        let judging = PackageResources.limits_lua
        let book = tools + PackageResources.book_lua
        return switch self {
        case .admit:
            reading + PackageResources.known_lua + judging + PackageResources.admit_lua + PackageResources.states_lua
        case .look: reading + judging + PackageResources.look_lua + PackageResources.states_lua
        // What is rare comes last, so that the functions it needs are made only for it.
        case .settle:
            prelude + PackageResources.settle_lua + PackageResources.tools_lua + PackageResources.unrecorded_lua
        case .renew: tools + PackageResources.renew_lua
        case .steering: tools + PackageResources.steering_lua
        case .steer: tools + PackageResources.steer_lua
        case .leases: tools + PackageResources.leases_lua
        case .audit: tools + PackageResources.audit_lua
        case .revise: book + PackageResources.revise_lua
        case .orders: tools + PackageResources.orders_lua
        case .handOver: book + PackageResources.handover_lua
        case .claim: prelude + PackageResources.claim_lua
        case .conclude: prelude + PackageResources.conclude_lua
        case .register: prelude + PackageResources.register_lua
        case .locate: prelude + PackageResources.locate_lua
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

    /// The elements of an answer that is one string of packed doubles; nil unless each is a whole number.
    package static func list(packed bytes: [UInt8]) -> [ScriptValue]? {
        guard bytes.count % 8 == 0 else { return nil }
        var values: [ScriptValue] = []
        values.reserveCapacity(bytes.count / 8)
        for start in stride(from: 0, to: bytes.count, by: 8) {
            let bits = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
            guard let number = Int(exactly: Double(bitPattern: UInt64(littleEndian: bits))) else { return nil }
            values.append(.integer(number))
        }
        return values
    }

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

    /// What stands in the way of the store, as far as is known.
    var trouble: StoreHealth.Trouble? { get }
}

extension ScriptRunner {
    package var trouble: StoreHealth.Trouble? { nil }
}
