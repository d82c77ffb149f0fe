import GatewayTypes

/// Percent-encoding of paths and queries (RFC 3986 §2.1).
enum PercentCoding {
    /// The bytes that a text stands for; nil when a percent sign is not followed by two hexadecimal digits.
    static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case 0x25:
                guard let high = rest.next().flatMap(Self.digit), let low = rest.next().flatMap(Self.digit) else {
                    return nil
                }
                result.append(high << 4 | low)
            case 0x2B where plusIsSpace: result.append(0x20)
            default: result.append(byte)
            }
        }
        return result
    }

    /// The value of a hexadecimal digit of either case.
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte &- 0x30
        case 0x41...0x46: byte &- 0x37
        case 0x61...0x66: byte &- 0x57
        default: nil
        }
    }
}

/// The parameters of a query. Each may stand once, and only those that the route knows.
struct QueryItems {
    private var values: [String: [UInt8]] = [:]

    init(_ query: ArraySlice<UInt8>, known: [String]) throws(AdminProblem) {
        for part in query.split(separator: 0x26) {
            let pair = part.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(pair[0], plusIsSpace: true),
                let value = PercentCoding.decode(pair.count == 2 ? pair[1] : [], plusIsSpace: true)
            else {
                throw AdminProblem(.invalidRequest, "The query is not percent-encoded.")
            }
            guard let known = known.first(where: { $0.utf8.elementsEqual(name) }) else {
                let shown = String(decoding: name.prefix(64), as: UTF8.self)
                throw AdminProblem(
                    .invalidRequest, "There is no parameter of this name here; known are: \(Self.list(known)).",
                    member: shown)
            }
            guard self.values.updateValue(value, forKey: known) == nil else {
                throw AdminProblem(.invalidRequest, "A parameter stands more than once.", member: known)
            }
        }
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }

    func bytes(_ name: String) -> [UInt8]? { self.values[name] }

    /// A parameter as text; refused when it is not UTF-8.
    func text(_ name: String) throws(AdminProblem) -> ByteString? {
        guard let bytes = self.values[name] else { return nil }
        guard let text = ByteString(utf8: bytes) else {
            throw AdminProblem(.invalidRequest, "The parameter is not UTF-8.", member: name)
        }
        return text
    }

    /// A parameter that names a limit.
    func limitKind() throws(AdminProblem) -> LimitKind? {
        guard let text = try self.text("limit") else { return nil }
        guard let kind = LimitKind(rawValue: text.string) else { throw AdminProblem.unknownLimit }
        return kind
    }
}

extension AdminProblem {
    /// A limit of no known kind.
    static var unknownLimit: AdminProblem {
        let names = LimitKind.allCases.map(\.rawValue).joined(separator: ", ")
        return AdminProblem(.invalidRequest, "There is no limit of this name; known are: \(names).", member: "limit")
    }
}
