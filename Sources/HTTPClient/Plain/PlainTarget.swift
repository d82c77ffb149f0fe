import GatewayTypes

/// An `http` address taken apart, with the head of its requests made ready once.
struct PlainTarget: Sendable {
    /// Who is connected to.
    struct Peer: Hashable, Sendable {
        /// A name or a number, IPv6 without its brackets.
        var host: String
        var port: UInt16
    }

    let peer: Peer
    /// The head of a request up to where the length of its body is told; holds the key.
    private let head: Secret
    private let hasBody: Bool

    /// Fields that say where a message ends or what becomes of the connection: not for a configuration to set.
    private static let ours: Set<String> = [
        "connection", "content-length", "expect", "te", "transfer-encoding", "upgrade",
    ]

    /// Nil for what is no plain `http` address; libcurl then says what it thinks of it.
    ///
    /// - Parameters:
    ///   - hasBody: whether its requests have one, be it empty.
    ///   - lines: header lines, each with a NUL behind it.
    init?(_ url: String, method: String, hasBody: Bool, _ lines: [UInt8]) {
        guard url.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != 0x23 && $0 != 0x5C }) else { return nil }
        guard url.lowercased().hasPrefix("http://") else { return nil }
        let rest = url.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let peer = Peer(authority) else { return nil }
        self.peer = peer
        var path = rest.dropFirst(authority.count)
        if path.isEmpty { path = "/" }
        self.hasBody = hasBody
        var head = Array("\(method) \(path.hasPrefix("?") ? "/" : "")\(path) HTTP/1.1\r\n".utf8)
        let fields = lines.split(separator: 0).filter { !Self.ours.contains(Self.name($0)) }
        let names = Set(fields.map(Self.name))
        for (name, value) in [("host", String(authority)), ("accept", "*/*"), ("accept-encoding", "identity")]
        where !names.contains(name) {
            head += Array("\(name): \(value)\r\n".utf8)
        }
        for field in fields { head += field + [0x0D, 0x0A] }
        self.head = Secret(head)
    }

    private static func name(_ line: ArraySlice<UInt8>) -> String {
        String(decoding: line.prefix { $0 != 0x3A }, as: UTF8.self).lowercased()
    }

    /// A whole request.
    func request(_ body: [UInt8]) -> [UInt8] {
        self.head.reveal { head in
            var request: [UInt8] = []
            request.reserveCapacity(head.count + body.count + 40)
            request.append(contentsOf: head)
            if self.hasBody { request.append(contentsOf: "content-length: \(body.count)\r\n".utf8) }
            request.append(0x0D)
            request.append(0x0A)
            if self.hasBody { request.append(contentsOf: body) }
            return request
        }
    }
}

extension PlainTarget.Peer {
    /// Nil for an authority with user information, without a host, or with a port that is none.
    init?(_ authority: Substring) {
        guard !authority.contains("@") else { return nil }
        var host = authority
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty, let number = port.map({ UInt16($0) }) ?? 80, number > 0 else { return nil }
        self.init(host: String(host), port: number)
    }
}
