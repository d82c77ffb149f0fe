package import GatewayTypes
import HTTPCodec
import JOSE

/// Somebody who may use the admin API.
package struct Operator: Sendable {
    package enum Role: String, Sendable, CaseIterable {
        /// Reads.
        case viewer
        /// Reads and changes.
        case `operator`
    }

    /// Stands in the audit trail.
    package let name: String
    package let role: Role
    /// The only tenants it sees and changes; nil for all of them, and for what belongs to none.
    package let tenants: Set<TenantID>?

    package init(name: String, role: Role, tenants: Set<TenantID>? = nil) {
        self.name = name
        self.role = role
        self.tenants = tenants
    }

    func sees(_ tenant: TenantID) -> Bool { self.tenants?.contains(tenant) ?? true }
}

/// Finds the operator whose token a request bears. Holds hashes only.
package struct OperatorTable: Sendable {
    private let entries: [(digest: [UInt8], operator: Operator)]

    /// - Parameter entries: each with the 32 bytes of the SHA-256 of its token.
    package init(_ entries: [(digest: [UInt8], operator: Operator)] = []) {
        self.entries = entries.filter { $0.digest.count == 32 }
    }

    /// Longest token looked at, in bytes.
    private static let longestToken = 512

    /// The operator of an `Authorization` value; nil for any other scheme or token.
    func `operator`(authorization value: Span<UInt8>) -> Operator? {
        guard let token = Self.bearer(value) else { return nil }
        let digest = SHA256Digest(of: token.span).bytes
        var found: Operator?
        // Every entry is compared whole, so that time tells nothing of how much fits.
        for entry in self.entries {
            var difference: UInt8 = 0
            for (left, right) in zip(digest, entry.digest) { difference |= left ^ right }
            if difference == 0 { found = entry.operator }
        }
        return found
    }

    /// The token behind `Bearer` (RFC 6750 §2.1).
    private static func bearer(_ value: Span<UInt8>) -> [UInt8]? {
        let scheme: StaticString = "bearer "
        let count = scheme.utf8CodeUnitCount
        guard value.count > count, value.count <= count &+ Self.longestToken else { return nil }
        for at in 0..<count where value[at] | 0x20 != scheme.utf8Start[at] { return nil }
        var start = count
        while start < value.count, value[start] == 0x20 { start &+= 1 }
        return value.extracting(start..<value.count).withUnsafeBufferPointer { Array($0) }
    }
}
