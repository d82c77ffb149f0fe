/// The numbers of a key, checked for every weakness that OpenSSL lets pass.
enum KeyMaterial: Sendable {
    /// Big-endian, without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// Coordinates of the curve's full size.
    case ec(Curve, x: [UInt8], y: [UInt8])
    case ed25519([UInt8])
    case secret([UInt8])

    /// Algorithms that a key of this type can serve.
    var algorithms: [Algorithm] {
        switch self {
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .ec(let curve, _, _): [curve.algorithm]
        case .ed25519: [.edDSA, .ed25519]
        case .secret(let secret):
            [Algorithm.hs256, .hs384, .hs512].filter { secret.count >= $0.hash?.byteCount ?? .max }
        }
    }

    /// Checks what can be seen from the numbers; that a point is on its curve is OpenSSL's to say.
    func check() throws(KeyFailure) {
        switch self {
        case .rsa(let modulus, let exponent): try Self.checkRSA(modulus: modulus, exponent: exponent)
        case .ec(let curve, let x, let y):
            guard x.count == curve.coordinateBytes, y.count == curve.coordinateBytes else { throw .malformed }
        case .ed25519(let point): try Self.checkEd25519(point)
        case .secret(let secret):
            guard secret.count >= Hash.sha256.byteCount else { throw .shortSecret }
        }
    }

    private static func checkRSA(modulus: [UInt8], exponent: [UInt8]) throws(KeyFailure) {
        guard let top = modulus.first, let last = modulus.last, top != 0 else { throw .rsaModulus }
        let bits = modulus.count * 8 - top.leadingZeroBitCount
        guard (2048...8192).contains(bits), last & 1 == 1 else { throw .rsaModulus }
        guard exponent.count <= 4 else { throw .rsaExponent }
        let value = exponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard value >= 3, value & 1 == 1 else { throw .rsaExponent }
        if Self.hasROCAFingerprint(modulus) { throw .rocaFingerprint }
    }

    /// Whether the modulus is a power of 65537 modulo every small prime, as all moduli of the faulty generator are
    /// and about one in 2^27 others.
    private static func hasROCAFingerprint(_ modulus: [UInt8]) -> Bool {
        for prime in Self.smallPrimes {
            let residue = modulus.reduce(UInt32(0)) { ($0 << 8 | UInt32($1)) % prime }
            var power: UInt32 = 1
            repeat {
                if power == residue { break }
                power = power * (65537 % prime) % prime
            } while power != 1
            if power != residue { return false }
        }
        return true
    }

    /// The primes below 168 but for 2: the product that the faulty generator uses for its shortest keys.
    private static let smallPrimes: [UInt32] = (3..<168).filter { candidate in
        (2..<candidate).allSatisfy { candidate % $0 != 0 }
    }

    private static func checkEd25519(_ point: [UInt8]) throws(KeyFailure) {
        guard point.count == 32 else { throw .malformed }
        var y = point
        y[31] &= 0x7F  // the sign of x
        let canonical = y.reversed().lexicographicallyPrecedes(Self.fieldPrime.reversed())
        guard canonical, !Self.smallOrders.contains(y) else { throw .invalidPoint }
    }

    /// 2^255 - 19, little-endian.
    private static let fieldPrime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]

    /// The y coordinates of all points whose order divides 8, little-endian and canonical: a signature that verifies
    /// under one of them says nothing about the message.
    private static let smallOrders: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]
}
