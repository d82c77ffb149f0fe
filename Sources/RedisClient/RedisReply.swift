/// What a server answers (RESP2).
package enum RedisReply: Hashable, Sendable {
    case status([UInt8])
    case bulk([UInt8])
    case integer(Int)
    case null
    case array([RedisReply])
    case error(RedisServerError)

    package var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    package var array: [RedisReply]? { if case .array(let elements) = self { elements } else { nil } }

    /// The bytes of a status or a bulk string.
    package var bytes: [UInt8]? {
        switch self {
        case .status(let bytes), .bulk(let bytes): bytes
        default: nil
        }
    }

    /// The bytes of a status or a bulk string as text; nil when they are no UTF-8.
    package var text: String? { self.bytes.flatMap { String(validating: $0, as: UTF8.self) } }
}

/// An error that a server answers. Its first word says what it is; scripts append to the rest.
package struct RedisServerError: Hashable, Sendable {
    /// The first word.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case moved = "MOVED"
        case ask = "ASK"
        case tryAgain = "TRYAGAIN"
        case clusterDown = "CLUSTERDOWN"
        case crossSlot = "CROSSSLOT"
        case readOnly = "READONLY"
        case loading = "LOADING"
        case masterDown = "MASTERDOWN"
        case busy = "BUSY"
        case noReplicas = "NOREPLICAS"
        case outOfMemory = "OOM"
        case misconfigured = "MISCONF"
        case noScript = "NOSCRIPT"
        case noAuth = "NOAUTH"
        case wrongPassword = "WRONGPASS"
        case noPermission = "NOPERM"
        case other = "ERR"
    }

    package let kind: Kind
    /// At most a kilobyte of what the server said, the first word included.
    package let text: String

    package init(_ bytes: some Collection<UInt8>) {
        self.text = String(decoding: bytes.prefix(1024), as: UTF8.self)
        let word = self.text.prefix { $0 != " " }
        self.kind = Kind(rawValue: String(word)) ?? .other
    }

    /// Of a server that wants no password, or another: told from one that takes nobody in.
    var isAboutPassword: Bool { self.text.contains("AUTH") || self.text.contains("password") }

    /// Slot and address of `MOVED slot host:port` and `ASK slot host:port`; a host that is empty or `?` means the
    /// one that answered.
    func redirection(from own: RedisAddress) -> (slot: Int, address: RedisAddress)? {
        let words = self.text.split(separator: " ")
        guard words.count >= 3, let slot = Int(words[1]), (0..<ClusterMap.slotCount).contains(slot),
            let colon = words[2].lastIndex(of: ":"), let port = UInt16(words[2][words[2].index(after: colon)...])
        else { return nil }
        let host = words[2][..<colon]
        return (slot, RedisAddress(host: host.isEmpty || host == "?" ? own.host : String(host), port: port))
    }
}
