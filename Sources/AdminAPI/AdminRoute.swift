import GatewayTypes
import HTTPCodec

/// What a path below `/admin/v1` names. Segments are as the client wrote them, not yet decoded.
enum AdminRoute: Hashable {
    case status
    case reload
    case tenants
    case tenant(Segment)
    case audit(Segment)
    case holder(Segment, HolderPath, Resource)

    typealias Segment = ArraySlice<UInt8>

    /// Whose counters.
    enum HolderPath: Hashable {
        case tenant
        case subject(Segment)
        case address(Segment)
    }

    /// What of a holder.
    enum Resource: Hashable {
        case standing
        case override
        case block
        case reset
        case leases
        case lease(Segment)
    }

    static let prefix = Array("/admin/v1/".utf8)

    /// Nil for a path that names nothing.
    init?(_ path: ArraySlice<UInt8>) {
        guard path.starts(with: Self.prefix) else { return nil }
        let parts = path.dropFirst(Self.prefix.count).split(separator: 0x2F, omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 7 else { return nil }
        switch (Self.word(first), parts.count) {
        case ("status", 1): self = .status
        case ("reload", 1): self = .reload
        case ("tenants", 1): self = .tenants
        case ("tenants", 2...) where !parts[1].isEmpty:
            guard let route = Self.below(parts[1], parts.dropFirst(2)) else { return nil }
            self = route
        default: return nil
        }
    }

    private static func below(_ tenant: Segment, _ parts: ArraySlice<Segment>) -> AdminRoute? {
        guard let first = parts.first else { return .tenant(tenant) }
        let rest = parts.dropFirst()
        switch self.word(first) {
        case "audit": return rest.isEmpty ? .audit(tenant) : nil
        case "limits": return self.resource(rest).map { .holder(tenant, .tenant, $0) }
        case "subjects":
            guard let id = rest.first, !id.isEmpty else { return nil }
            return self.resource(rest.dropFirst()).map { .holder(tenant, .subject(id), $0) }
        case "addresses":
            guard let id = rest.first, !id.isEmpty else { return nil }
            return self.resource(rest.dropFirst()).map { .holder(tenant, .address(id), $0) }
        default: return nil
        }
    }

    private static func resource(_ parts: ArraySlice<Segment>) -> Resource? {
        guard let first = parts.first else { return .standing }
        let rest = parts.dropFirst()
        switch (self.word(first), rest.count) {
        case ("override", 0): return .override
        case ("block", 0): return .block
        case ("reset", 0): return .reset
        case ("leases", 0): return .leases
        case ("leases", 1): return rest.first.map { .lease($0) }
        default: return nil
        }
    }

    private static func word(_ segment: Segment) -> String { String(decoding: segment.prefix(16), as: UTF8.self) }

    /// The methods that it takes.
    var methods: [HTTPMethod] {
        switch self {
        case .status, .tenants, .tenant, .audit, .holder(_, _, .standing): [.get, .head]
        case .reload, .holder(_, _, .reset): [.post]
        case .holder(_, _, .override), .holder(_, _, .block): [.put, .delete]
        case .holder(_, _, .leases): [.get, .head, .delete]
        case .holder(_, _, .lease): [.delete]
        }
    }

    /// The value of `Allow`.
    var allowed: StaticString {
        switch self {
        case .status, .tenants, .tenant, .audit, .holder(_, _, .standing): "GET, HEAD"
        case .reload, .holder(_, _, .reset): "POST"
        case .holder(_, _, .override), .holder(_, _, .block): "PUT, DELETE"
        case .holder(_, _, .leases): "GET, HEAD, DELETE"
        case .holder(_, _, .lease): "DELETE"
        }
    }

    /// The query parameters that it knows.
    func parameters(for method: HTTPMethod) -> [String] {
        switch self {
        case .status, .reload, .tenants: []
        case .tenant: ["plan"]
        case .audit: ["limit", "before", "scope", "subject", "address", "encoding"]
        case .holder(_, let path, let resource):
            (path == .tenant ? [] : ["encoding"]) + Self.parameters(of: resource, method)
        }
    }

    private static func parameters(of resource: Resource, _ method: HTTPMethod) -> [String] {
        switch resource {
        case .standing: ["plan"]
        case .override where method == .delete: ["limit", "reason"]
        case .block where method == .delete: ["reason"]
        case .leases where method == .delete: ["reason"]
        case .lease: ["reason"]
        case .override, .block, .reset, .leases: []
        }
    }
}
