/// Even 64-bit numbers from one seed (SplitMix64): chance that can be repeated.
package struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { self.state = seed }

    package mutating func next() -> UInt64 {
        self.state &+= Self.step
        return Self.mixed(self.state)
    }

    /// An even number from 0 up to, but without, the bound; 0 for a bound below 1.
    package mutating func below(_ bound: Int64) -> Int64 {
        Int64(truncatingIfNeeded: self.next().multipliedFullWidth(by: UInt64(max(0, bound))).high)
    }

    /// The first number of a seed: its bits, spread.
    package static func first(of seed: UInt64) -> UInt64 { Self.mixed(seed &+ Self.step) }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ (word &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word &>> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word &>> 31)
    }
}
