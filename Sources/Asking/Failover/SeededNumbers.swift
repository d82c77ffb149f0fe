/// Even 64-bit numbers from one seed (SplitMix64): chance that tests can repeat.
struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// An even number from 0 up to, but without, the bound; 0 for a bound below 1.
    mutating func below(_ bound: Int64) -> Int64 {
        Int64(truncatingIfNeeded: self.next().multipliedFullWidth(by: UInt64(max(0, bound))).high)
    }
}
