extension JSONReader {
    /// An object with more members is checked once, at its end, by sorting; each new name of a smaller one is looked
    /// for among those before it.
    static var mostNamesComparedAtOnce: UInt32 { 16 }

    /// Refuses a name that its object has already. A hash of one bit tells most new names from all others.
    @inline(__always)
    mutating func checkName(_ name: JSONNode) throws(Fault) {
        let hash = (self.tape.prefix(of: name) ^ UInt64(name.count)) &* 0x9E37_79B9_7F4A_7C15
        let bit: UInt32 = 1 &<< UInt32(truncatingIfNeeded: hash &>> 59)
        if self.names & bit != 0, self.count < Self.mostNamesComparedAtOnce { try self.compareWithEarlier(name) }
        self.names |= bit
    }

    @inline(never)
    private func compareWithEarlier(_ name: JSONNode) throws(Fault) {
        let text = self.tape.text(of: name)
        var index = self.open &+ 1
        for _ in 0..<self.count {
            if self.tape.text(of: self.tape[index], equals: text) {
                throw Fault(reason: .duplicateMember, position: Self.place(of: name.start))
            }
            index &+= 1 &+ Int(self.tape[index &+ 1].extent)
        }
    }

    /// Sorting takes `n log n` comparisons whatever the names are, so nobody can choose names that are slow.
    @inline(never)
    func checkNamesBySorting() throws(Fault) {
        var names: [(prefix: UInt64, node: JSONNode)] = []
        names.reserveCapacity(Int(self.count))
        var index = self.open &+ 1
        for _ in 0..<self.count {
            names.append((self.tape.prefix(of: self.tape[index]), self.tape[index]))
            index &+= 1 &+ Int(self.tape[index &+ 1].extent)
        }
        names.sort {
            $0.prefix == $1.prefix ? self.tape.compare($0.node, $1.node) < 0 : $0.prefix < $1.prefix
        }
        var first: UInt32?
        for (left, right) in zip(names, names.dropFirst()) where left.prefix == right.prefix {
            guard self.tape.compare(left.node, right.node) == 0 else { continue }
            first = min(first ?? .max, max(left.node.start, right.node.start))
        }
        if let first { throw Fault(reason: .duplicateMember, position: Self.place(of: first)) }
    }

    /// Refuses a name with an escaped NUL: other readers would end it there.
    @inline(never)
    func refuseNUL(in name: JSONNode) throws(Fault) {
        if self.tape.text(of: name).contains(0) { throw Fault(reason: .nulByte, position: Self.place(of: name.start)) }
    }

    /// The opening quote of a name.
    private static func place(of start: UInt32) -> Int { Int(start) &- 1 }
}
