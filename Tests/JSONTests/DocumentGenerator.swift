/// Makes documents up, good ones and damaged ones, the same for the same seed.
struct DocumentGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    /// Below `bound`.
    mutating func number(below bound: Int) -> Int {
        // SplitMix64.
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(bound))
    }

    private mutating func one(of choices: [String]) -> String { choices[self.number(below: choices.count)] }

    /// A document that is JSON, save perhaps for a name that comes twice.
    mutating func document() -> [UInt8] { Array((self.space() + self.value(depth: 0) + self.space()).utf8) }

    private mutating func space() -> String {
        self.number(below: 3) > 0 ? "" : self.one(of: [" ", "\n", "\t\r\n", "  ", "\n        "])
    }

    private mutating func value(depth: Int) -> String {
        switch self.number(below: depth < 5 ? 9 : 6) {
        case 0: return self.one(of: ["true", "false", "null"])
        case 1, 2: return self.numeral()
        case 3, 4, 5: return self.string()
        case 6, 7: return self.object(depth: depth)
        default:
            let elements = (0..<self.number(below: 6)).map { _ in
                self.space() + self.value(depth: depth + 1) + self.space()
            }
            return "[" + elements.joined(separator: ",") + "]"
        }
    }

    private mutating func object(depth: Int) -> String {
        // Now and then more members than are compared one by one.
        let count = self.number(below: 20) == 0 ? 12 + self.number(below: 30) : self.number(below: 6)
        var members: [String] = []
        for index in 0..<count {
            let name =
                self.number(below: 60) == 0 ? self.string() : "\"\(self.one(of: ["", "n", "é", "name "]))\(index)\""
            let value = self.value(depth: count > 6 ? 9 : depth + 1)
            members.append(self.space() + name + self.space() + ":" + self.space() + value + self.space())
        }
        if count > 0, self.number(below: 25) == 0 { members.append(members[self.number(below: count)]) }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func numeral() -> String {
        let digits = (0..<self.number(below: 22)).map { _ in String(self.number(below: 10)) }.joined()
        let whole = self.one(of: ["", "-"]) + self.one(of: ["0", "7", "1\(digits)", "9223372036854775807", "12345"])
        let fraction = self.number(below: 3) > 0 ? "" : "." + self.one(of: ["0", "5", "\(digits)1", "125"])
        let exponent =
            self.number(below: 3) > 0
            ? ""
            : self.one(of: ["e", "E"]) + self.one(of: ["", "+", "-"]) + self.one(of: ["0", "3", "17", "299", "310"])
        return whole + fraction + exponent
    }

    private mutating func string() -> String {
        let pieces = [
            "a", "text", "a longer run of plain text", "é", "سلام", "語", "😀", " ", "\\n", "\\\"", "\\\\", "\\/", "\\t",
            "\\u0041", "\\u00e9", "\\u0633\\u0644", "\\uD83D\\uDE00", "\\u0000", "\u{7F}", "\u{2028}", "\\b\\f\\r",
        ]
        return "\"" + (0..<self.number(below: 7)).map { _ in self.one(of: pieces) }.joined() + "\""
    }

    /// The document with some damage done.
    mutating func damaged(_ document: [UInt8]) -> [UInt8] {
        var bytes = document
        for _ in 0...self.number(below: 2) {
            let place = self.number(below: bytes.count + 1)
            switch self.number(below: 6) {
            case 0 where place < bytes.count: bytes[place] = UInt8(self.number(below: 256))
            case 1 where place < bytes.count: bytes[place] ^= UInt8(1 << self.number(below: 8))
            case 2 where place < bytes.count: bytes.remove(at: place)
            case 3: bytes.removeSubrange(place...)
            case 4:
                let copied = Array(bytes[..<place].suffix(self.number(below: 12)))
                bytes.insert(contentsOf: copied, at: self.number(below: bytes.count + 1))
            default: bytes.insert(contentsOf: self.token(), at: place)
            }
        }
        return bytes
    }

    private mutating func token() -> [UInt8] {
        let tokens = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\uD800", "\\uDC00", "0", "-", "1e400", "1e308", ".",
            "e5",
            "nul", "true", "\u{0}", "\u{1F}", "\u{FEFF}", "\u{A0}", "\"a\":1", "18446744073709551616", "é", "/**/",
        ]
        let broken: [[UInt8]] = [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0x80],
        ]
        return self.number(below: 4) > 0 ? Array(self.one(of: tokens).utf8) : broken[self.number(below: broken.count)]
    }
}
