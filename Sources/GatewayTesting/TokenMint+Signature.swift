package import JOSE

extension TokenMint {
    /// What stands in a token's third part.
    package enum Signature: Sendable {
        case right
        case empty
        case zeros(Int)
        /// The right one with its last bit turned.
        case flipped
        /// The right one without its last byte.
        case truncated
        /// The right one and a zero byte.
        case extended
        /// An ECDSA signature in the form that OpenSSL uses, instead of `R‖S`.
        case der
        /// An HMAC with these bytes as the secret: the public key's text, say.
        case hmac(secret: [UInt8], Hash)
        /// Made with another algorithm of the same key.
        case with(Algorithm)
        case bytes([UInt8])
    }

    func bytes(of signature: Signature, over signed: [UInt8]) -> [UInt8] {
        switch signature {
        case .right: return self.sign(signed, with: self.algorithm)
        case .empty: return []
        case .zeros(let count): return [UInt8](repeating: 0, count: count)
        case .flipped:
            var bytes = self.sign(signed, with: self.algorithm)
            bytes[bytes.count - 1] ^= 1
            return bytes
        case .truncated: return self.sign(signed, with: self.algorithm).dropLast()
        case .extended: return self.sign(signed, with: self.algorithm) + [0]
        case .der: return Self.der(self.sign(signed, with: self.algorithm))
        case .hmac(let secret, let hash): return Self.code(secret, hash, signed)
        case .with(let algorithm): return self.sign(signed, with: algorithm)
        case .bytes(let bytes): return bytes
        }
    }

    private func sign(_ bytes: [UInt8], with algorithm: Algorithm) -> [UInt8] {
        switch self.key {
        case .pair(let pair):
            guard let signature = pair.sign(bytes.span, with: algorithm) else {
                preconditionFailure("the key does not fit the algorithm")
            }
            return signature
        case .secret(let secret):
            let hash: Hash =
                switch algorithm {
                case .hs384: .sha384
                case .hs512: .sha512
                default: .sha256
                }
            return Self.code(secret, hash, bytes)
        }
    }

    private static func code(_ secret: [UInt8], _ hash: Hash, _ bytes: [UInt8]) -> [UInt8] {
        guard let authenticator = MessageAuthenticator(hash, secret: secret.span) else {
            preconditionFailure("an empty secret")
        }
        return authenticator.code(for: bytes.span)
    }

    private static func der(_ raw: [UInt8]) -> [UInt8] {
        let integers = [raw.prefix(raw.count / 2), raw.suffix(raw.count / 2)].flatMap { half -> [UInt8] in
            var digits = Array(half.drop { $0 == 0 })
            if digits.first.map({ $0 & 0x80 != 0 }) ?? true { digits.insert(0, at: 0) }
            return [0x02] + self.length(digits.count) + digits
        }
        return [0x30] + self.length(integers.count) + integers
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        return count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    }
}
