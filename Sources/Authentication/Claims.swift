internal import GatewayTypes
internal import JSON

/// The payload of a token as strict JSON, with each claim read in the one form it may have.
struct Claims {
    let root: JSONValue

    init(parsing payload: Span<UInt8>) throws(AuthenticationFailure) {
        do throws(JSONFailure) {
            self.root = try JSONDocument(parsing: payload, limits: JSONLimits(bytes: 6144, depth: 8)).root
        } catch { throw .invalidClaims }
        guard self.root.kind == .object else { throw .invalidClaims }
    }

    /// A text that is not empty, not only white space, at most 255 characters and free of control characters; nil
    /// when the claim is absent.
    func text(_ name: String) throws(AuthenticationFailure) -> ByteString? {
        guard let value = self.root[name] else { return nil }
        guard let text = value.string, Self.isIdentifier(text) else { throw .invalidClaim }
        return ByteString(text)
    }

    /// A NumericDate (RFC 7519 §2), possibly fractional; nil when the claim is absent.
    func time(_ name: String) throws(AuthenticationFailure) -> WallTime? {
        guard let value = self.root[name] else { return nil }
        guard let seconds = value.number, seconds >= 0, seconds <= 0x1p53 else { throw .invalidClaim }
        // Beyond the year 120000 a time is as good as never, and stays far from overflow.
        return WallTime(microseconds: Int64(min(seconds, 4e12) * 1e6))
    }

    /// Whether the claim for the audience names one of these; any `aud` besides must do so, too.
    func hasAudience(_ audiences: [ByteString], in claim: ByteString) throws(AuthenticationFailure) -> Bool {
        guard let value = self.root[claim.string] else { throw .missingClaim }
        guard try Self.names(value, one: audiences) else { return false }
        guard claim != "aud", let value = self.root["aud"] else { return true }
        return try Self.names(value, one: audiences)
    }

    /// Whether a value, a text or a list of nothing but texts, holds one of these.
    private static func names(_ value: JSONValue, one audiences: [ByteString]) throws(AuthenticationFailure) -> Bool {
        switch value.kind {
        case .string: return Self.isOne(value, of: audiences)
        case .array:
            guard value.elements.allSatisfy({ $0.kind == .string }) else { throw .invalidClaim }
            return value.elements.contains { Self.isOne($0, of: audiences) }
        default: throw .invalidClaim
        }
    }

    /// The value at the end of a path of names.
    func value(at path: ClaimPath) -> JSONValue? {
        var value = self.root
        for name in path.names {
            guard let next = value[name.string] else { return nil }
            value = next
        }
        return value
    }

    func meets(_ condition: ClaimCondition?) -> Bool {
        guard let condition else { return true }
        guard let value = self.value(at: condition.path) else { return false }
        return condition.values.contains { Self.holds(value, $0) }
    }

    func plan(by mapping: PlanMapping?) -> PlanName? {
        guard let mapping, let value = self.value(at: mapping.path) else { return nil }
        return mapping.entries.first { Self.holds(value, $0.value) }?.plan
    }

    /// `scope` as RFC 8693 writes it and `scp` as some issuers name it, each a text or a list.
    func scopes() -> Set<ByteString> {
        let scopes = self.root["scope"].map(Self.scopes) ?? []
        return self.root["scp"].map { scopes.union(Self.scopes(in: $0)) } ?? scopes
    }

    private static func scopes(in value: JSONValue) -> Set<ByteString> {
        if value.kind == .array { return Set(value.elements.compactMap { $0.string.map { ByteString($0) } }) }
        guard let text = value.string else { return [] }
        return Set(text.utf8.split(separator: UInt8(ascii: " ")).compactMap { ByteString(utf8: $0) })
    }

    /// Whether a value is this text, or a list that holds it; `true` and `false` stand for what they say.
    private static func holds(_ value: JSONValue, _ text: ByteString) -> Bool {
        if let bool = value.bool { return text == (bool ? "true" : "false") }
        return value.isString(text.string) || value.elements.contains { $0.isString(text.string) }
    }

    private static func isOne(_ value: JSONValue, of texts: [ByteString]) -> Bool {
        texts.contains { value.isString($0.string) }
    }

    private static func isIdentifier(_ text: String) -> Bool {
        var count = 0
        var visible = false
        for scalar in text.unicodeScalars {
            count += 1
            guard count <= 255, scalar.value >= 0x20, !(0x7F...0x9F).contains(scalar.value) else { return false }
            if !visible { visible = scalar.value < 0x80 ? scalar != " " : !scalar.properties.isWhitespace }
        }
        return visible
    }
}
