package import GatewayTypes

/// Somebody who may use the admin API.
package struct OperatorSettings: Sendable, Hashable {
    package enum Role: String, Sendable, CaseIterable {
        /// Reads.
        case viewer
        /// Reads and changes.
        case `operator`
    }

    package var name: String
    package var role: Role
    /// The 32 bytes of the SHA-256 of its token; the token itself is nowhere in the configuration.
    package var digest: [UInt8]
    /// The only tenants it may see; nil for all.
    package var tenants: [TenantID]?

    package init(name: String, role: Role, digest: [UInt8], tenants: [TenantID]?) {
        self.name = name
        self.role = role
        self.digest = digest
        self.tenants = tenants
    }
}
