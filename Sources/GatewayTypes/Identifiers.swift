/// An identifier that compares as bytes; see `ByteString`.
package protocol Identifier: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    var bytes: ByteString { get }
    init(_ bytes: ByteString)
}

extension Identifier {
    package init(_ string: String) { self.init(ByteString(string)) }
    package init(stringLiteral value: String) { self.init(ByteString(value)) }
    package var string: String { self.bytes.string }
    package var description: String { self.bytes.string }
    package static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }
}

/// One app or organisation; nothing crosses tenants.
package struct TenantID: Identifier {
    package let bytes: ByteString
    package init(_ bytes: ByteString) { self.bytes = bytes }
}

/// Who is asking inside a tenant: the `sub` of a verified token, as bytes.
package struct SubjectID: Identifier {
    /// Every guest's name begins with it, and no account's may in a tenant that has guests.
    package static let guestPrefix: ByteString = "guest:"

    package let bytes: ByteString
    package init(_ bytes: ByteString) { self.bytes = bytes }

    /// Whether it names a guest, where the tenant has guests.
    package var isGuest: Bool { self.bytes.utf8.starts(with: Self.guestPrefix.utf8) }
}

/// A tier of a tenant.
package struct PlanName: Identifier {
    package let bytes: ByteString
    package init(_ bytes: ByteString) { self.bytes = bytes }
}

/// An entry of the task catalogue.
package struct TaskName: Identifier {
    package let bytes: ByteString
    package init(_ bytes: ByteString) { self.bytes = bytes }
}

/// A configured upstream.
package struct ProviderName: Identifier {
    package let bytes: ByteString
    package init(_ bytes: ByteString) { self.bytes = bytes }
}

/// A provider's own name for a model; chosen by the server only.
package struct ModelName: Identifier {
    package let bytes: ByteString
    package init(_ bytes: ByteString) { self.bytes = bytes }
}
