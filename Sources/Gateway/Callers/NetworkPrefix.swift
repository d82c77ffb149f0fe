package import EventLoops
package import GatewayTypes
import Glibc

/// A range of network addresses as operators write it: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct NetworkPrefix: Hashable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]
    /// Bits that have to agree.
    private let length: Int

    /// Nil for anything else, and where bits behind the prefix are set.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = PeerAddress(text: Array(first.utf8)) else { return nil }
        var length = address.bytes.count * 8
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let written = Int(parts[1]), written <= length
            else { return nil }
            length = written
        }
        self.bytes = address.bytes
        self.length = length
        guard Self.cut(address.bytes, to: length) == address.bytes else { return nil }
    }

    package func contains(_ address: PeerAddress) -> Bool {
        address.bytes.count == self.bytes.count && Self.cut(address.bytes, to: self.length) == self.bytes
    }

    package var description: String { "\(PeerAddress(bytes: self.bytes))/\(self.length)" }

    fileprivate static func cut(_ bytes: [UInt8], to length: Int) -> [UInt8] {
        bytes.indices.map { index in
            let bits = min(max(length - index * 8, 0), 8)
            return bytes[index] & ~UInt8(truncatingIfNeeded: 0xFF >> bits)
        }
    }
}

extension PeerAddress {
    /// Reads an IPv4 or IPv6 address as text, without port, zone or brackets; nil for anything else.
    package init?(text: some Collection<UInt8>) {
        guard (2...45).contains(text.count), text.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let terminated = text.map { CChar(truncatingIfNeeded: $0) } + [0]
        var bytes = [UInt8](repeating: 0, count: 16)
        if text.contains(0x3A) {
            guard inet_pton(AF_INET6, terminated, &bytes) == 1 else { return nil }
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            self.init(bytes: isMapped ? Array(bytes[12...]) : bytes)
        } else {
            guard inet_pton(AF_INET, terminated, &bytes) == 1 else { return nil }
            self.init(bytes: Array(bytes[..<4]))
        }
    }

    /// What counts as one caller: the address, or of IPv6 the network of 64 bits that one customer has to itself.
    package var callerText: ByteString {
        guard self.bytes.count == 16 else { return ByteString(self.description) }
        let network = PeerAddress(bytes: Array(self.bytes[..<8])).description
        return ByteString(network + "::/64")
    }

    /// As above, packed.
    var callerKey: CallerAddressKey {
        let significant = self.bytes.prefix(8)
        return CallerAddressKey(
            bits: significant.reduce(UInt64(self.bytes.count)) { ($0 &<< 8) | UInt64($1) },
            isLong: self.bytes.count == 16
        )
    }
}

/// Stands for one caller's address in tables.
struct CallerAddressKey: Hashable, Sendable {
    let bits: UInt64
    let isLong: Bool
}
