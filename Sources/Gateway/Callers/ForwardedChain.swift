import EventLoops
import HTTPCodec

/// Who stands behind the peer of a connection, as far as trusted proxies say.
///
/// Only a trusted peer's fields are read. The addresses are walked from the right, the nearest first, and the first
/// that is not a trusted proxy is the client: everything left of it the client may have written. What cannot be read
/// ends the walk at the proxy that passed it on. Where `X-Forwarded-For` and `Forwarded` (RFC 7239) tell different
/// stories, the proxy writes one of them and the client the other, and the peer itself is taken.
enum ForwardedChain {
    static func client(of head: HTTPRequestHead, peer: PeerAddress, trusted: [NetworkPrefix]) -> PeerAddress {
        guard !trusted.isEmpty, Self.isTrusted(peer, trusted) else { return peer }
        let plain =
            head.count(of: .xForwardedFor) == 0
            ? nil : Self.walk(Self.elements(of: head, .xForwardedFor), peer, trusted, Self.plainAddress)
        let standard =
            head.count(of: .forwarded) == 0
            ? nil : Self.walk(Self.elements(of: head, .forwarded), peer, trusted, Self.standardAddress)
        switch (plain, standard) {
        case (let one?, let other?): return one == other ? one : peer
        case (let one?, nil), (nil, let one?): return one
        case (nil, nil): return peer
        }
    }

    private static func isTrusted(_ address: PeerAddress, _ trusted: [NetworkPrefix]) -> Bool {
        trusted.contains { $0.contains(address) }
    }

    private static func walk(
        _ elements: [ArraySlice<UInt8>], _ peer: PeerAddress, _ trusted: [NetworkPrefix],
        _ read: (ArraySlice<UInt8>) -> PeerAddress?
    ) -> PeerAddress {
        var nearest = peer
        for element in elements.reversed() {
            guard let address = read(element) else { return nearest }
            nearest = address
            if !Self.isTrusted(address, trusted) { return address }
        }
        return nearest
    }

    /// What stands between the commas of all lines, but for commas in quotes.
    private static func elements(of head: HTTPRequestHead, _ field: KnownField) -> [ArraySlice<UInt8>] {
        var elements: [ArraySlice<UInt8>] = []
        for line in head.fields where line.known == field {
            var start = line.value.lowerBound
            var isQuoted = false
            for index in line.value {
                switch head.bytes[index] {
                case 0x22: isQuoted.toggle()
                case 0x2C where !isQuoted:
                    elements.append(head.bytes[start..<index])
                    start = index + 1
                default: break
                }
            }
            elements.append(head.bytes[start..<line.value.upperBound])
        }
        return elements.map(Self.trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    /// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`.
    private static func plainAddress(_ text: ArraySlice<UInt8>) -> PeerAddress? {
        if text.first == 0x5B {
            guard let end = text.firstIndex(of: 0x5D), Self.isPort(text[(end + 1)...]) else { return nil }
            return PeerAddress(text: text[(text.startIndex + 1)..<end])
        }
        if let colon = text.firstIndex(of: 0x3A), !text[(colon + 1)...].contains(0x3A) {
            return Self.isPort(text[colon...]) ? PeerAddress(text: text[..<colon]) : nil
        }
        return PeerAddress(text: text)
    }

    /// Nothing, or a colon and digits.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        if text.isEmpty { return true }
        return text.first == 0x3A && (2...6).contains(text.count)
            && text.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The `for` of an element: `for=192.0.2.1;proto=https`, `For="[2001:db8::1]:4711"`.
    private static func standardAddress(_ element: ArraySlice<UInt8>) -> PeerAddress? {
        var found: PeerAddress?
        for part in element.split(separator: 0x3B) {
            let pair = Self.trimmed(part)
            guard pair.count > 4, pair.prefix(4).elementsEqual("for=".utf8, by: { $0 | 0x20 == $1 || $0 == $1 }) else {
                continue
            }
            // Said twice it says nothing.
            guard found == nil else { return nil }
            var value = pair.dropFirst(4)
            if value.first == 0x22 {
                guard value.count >= 2, value.last == 0x22 else { return nil }
                value = value.dropFirst().dropLast()
            }
            guard let address = Self.plainAddress(value) else { return nil }
            found = address
        }
        return found
    }
}
