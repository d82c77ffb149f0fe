/// Reads a document into a tape: one pass, and no more of the machine's stack for a deeper document.
///
/// What is open is chained through the tape's own nodes. The grammar is RFC 8259's, to the letter.
struct JSONReader: ~Copyable {
    /// What is wrong, and before which byte.
    struct Fault: Error {
        var reason: JSONFailure.Reason
        var position: Int
    }

    var tape: JSONTape
    /// The next byte to look at.
    var position = 0
    /// The index of the innermost open container, or -1.
    private(set) var open = -1
    /// Members or elements begun in the innermost open container.
    private(set) var count: UInt32 = 0
    /// Hashes of the names in the innermost open container, one bit each.
    var names: UInt32 = 0
    private var depth = 0
    private let depthLimit: Int

    private init(tape: consuming JSONTape, depthLimit: Int) {
        self.tape = tape
        self.depthLimit = depthLimit
    }

    /// Reads a whole document, whose size the caller has checked.
    static func read(_ bytes: UnsafeRawBufferPointer, depthLimit: Int) throws(Fault) -> JSONTape {
        guard let tape = JSONTape(copying: bytes) else { throw Fault(reason: .outOfMemory, position: 0) }
        var reader = JSONReader(tape: tape, depthLimit: depthLimit)
        try reader.readDocument()
        return reader.finish()
    }

    private consuming func finish() -> JSONTape { self.tape }

    private mutating func readDocument() throws(Fault) {
        self.skipSpace()
        repeat {
            while try !self.beginValue() {}
        } while try self.advanceToValue()
        self.skipSpace()
        if self.position != self.tape.byteCount { throw self.fault(at: self.position, otherwise: .trailingBytes) }
    }

    /// Reads a scalar or an empty container whole (true), or opens a container up to its first value (false).
    @inline(__always)
    private mutating func beginValue() throws(Fault) -> Bool {
        switch self.tape.byte(self.position) {
        case UInt8(ascii: "\""):
            self.position &+= 1
            _ = try self.readString()
            return true
        case UInt8(ascii: "{"):
            try self.push(.object)
            if self.tape.byte(self.position) == UInt8(ascii: "}") { return try self.pop() }
            try self.readName()
            return false
        case UInt8(ascii: "["):
            try self.push(.array)
            if self.tape.byte(self.position) == UInt8(ascii: "]") { return try self.pop() }
            self.count = 1
            return false
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try self.readNumber()
        case UInt8(ascii: "t"): try self.readWord("true", .yes)
        case UInt8(ascii: "f"): try self.readWord("false", .no)
        case UInt8(ascii: "n"): try self.readWord("null", .null)
        default: throw self.fault(at: self.position)
        }
        return true
    }

    /// Goes from the end of a value to the next one, closing what ends here; false when nothing is open any more.
    @inline(__always)
    private mutating func advanceToValue() throws(Fault) -> Bool {
        while self.open >= 0 {
            self.skipSpace()
            let isObject = self.tape[self.open].kind == .object
            switch self.tape.byte(self.position) {
            case UInt8(ascii: ","):
                self.position &+= 1
                self.skipSpace()
                if isObject { try self.readName() } else { self.count &+= 1 }
                return true
            case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
                _ = try self.pop()
            default: throw self.fault(at: self.position)
            }
        }
        return false
    }

    /// Opens a container at its bracket, and goes to what follows.
    private mutating func push(_ kind: JSONNode.Kind) throws(Fault) {
        guard self.depth < self.depthLimit else { throw Fault(reason: .tooDeep, position: self.position) }
        self.depth &+= 1
        if self.open >= 0 {
            self.tape[self.open].count = self.count
            self.tape[self.open].start = self.names
        }
        let index = self.tape.nodeCount
        try self.append(kind, start: 0, count: 0, extent: UInt32(truncatingIfNeeded: self.open &+ 1))
        self.open = index
        self.count = 0
        self.names = 0
        self.position &+= 1
        self.skipSpace()
    }

    /// Closes the innermost container at its bracket; always true.
    private mutating func pop() throws(Fault) -> Bool {
        if self.count > Self.mostNamesComparedAtOnce, self.tape[self.open].kind == .object {
            try self.checkNamesBySorting()
        }
        let parent = Int(self.tape[self.open].extent) &- 1
        self.tape[self.open].count = self.count
        self.tape[self.open].extent = UInt32(truncatingIfNeeded: self.tape.nodeCount &- self.open)
        self.open = parent
        self.depth &-= 1
        if parent >= 0 {
            self.count = self.tape[parent].count
            self.names = self.tape[parent].start
        }
        self.position &+= 1
        return true
    }

    /// Reads a member's name and the colon, up to the value.
    @inline(__always)
    private mutating func readName() throws(Fault) {
        guard self.tape.byte(self.position) == UInt8(ascii: "\"") else { throw self.fault(at: self.position) }
        self.position &+= 1
        let index = self.tape.nodeCount
        let isPlain = try self.readString()
        if !isPlain { try self.refuseNUL(in: self.tape[index]) }
        try self.checkName(self.tape[index])
        self.count &+= 1
        self.skipSpace()
        guard self.tape.byte(self.position) == UInt8(ascii: ":") else { throw self.fault(at: self.position) }
        self.position &+= 1
        self.skipSpace()
    }

    @inline(__always)
    private mutating func readWord(_ word: StaticString, _ kind: JSONNode.Kind) throws(Fault) {
        let start = self.position
        for offset in 0..<word.utf8CodeUnitCount {
            let position = start &+ offset
            guard self.tape.byte(position) == word.utf8Start[offset] else { throw self.fault(at: position) }
        }
        self.position = start &+ word.utf8CodeUnitCount
        try self.append(kind, start: start, count: word.utf8CodeUnitCount)
    }

    /// Adds a node whose bytes have been read.
    @inline(__always)
    mutating func append(_ kind: JSONNode.Kind, start: Int, count: Int, extent: UInt32 = 1) throws(Fault) {
        let node = JSONNode(
            start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: count), extent: extent,
            kind: kind)
        guard self.tape.append(node) else { throw Fault(reason: .outOfMemory, position: start) }
    }

    @inline(__always)
    private mutating func skipSpace() {
        // Space, tab, line feed and carriage return, as bits.
        let space: UInt64 = 1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D
        while true {
            let byte = self.tape.byte(self.position)
            guard byte <= 0x20, space &>> UInt64(byte) & 1 == 1 else { return }
            self.position &+= 1
        }
    }

    /// What is wrong with a byte that cannot stand where it stands.
    @inline(never)
    func fault(at position: Int, otherwise reason: JSONFailure.Reason = .syntax) -> Fault {
        let byte = self.tape.byte(position)
        if byte == 0 {
            return Fault(reason: position == self.tape.byteCount ? .unexpectedEnd : .nulByte, position: position)
        }
        let isInvalid = byte >= 0x80 && self.lengthOfCharacter(at: position) == 0
        return Fault(reason: isInvalid ? .invalidUTF8 : reason, position: position)
    }
}
