/// The event that lines are adding to.
///
/// Type and data stand either in the bytes of the current call (`lent…`) or in storage of their own. They move to
/// storage when a second data line comes, or when the call ends before the event.
struct EventBuffer: Sendable {
    private var lentType: Range<Int>?
    private var lentData: Range<Int>?
    private var type: [UInt8] = []
    private var data: [UInt8] = []
    private var dataLines = 0
    private var dataSize = 0
    private var typeSize = 0

    /// Bytes of type and data, a line feed between two data lines counted.
    var size: Int { self.dataSize &+ self.typeSize }

    /// Whether a `data` line came; without one there is nothing to dispatch.
    var hasData: Bool { self.dataLines > 0 }

    mutating func addData(_ source: Span<UInt8>, _ value: Range<Int>, isLent: Bool) {
        if self.dataLines > 0 {
            if isLent { self.settle(source) }
            self.data.append(Byte.lineFeed)
            self.dataSize &+= 1
        }
        if isLent, self.dataLines == 0 {
            self.lentData = value
        } else {
            MessageWriter.append(source.extracting(value), to: &self.data)
        }
        self.dataLines &+= 1
        self.dataSize &+= value.count
    }

    mutating func setType(_ source: Span<UInt8>, _ value: Range<Int>, isLent: Bool) {
        self.type.removeAll(keepingCapacity: true)
        self.lentType = isLent ? value : nil
        if !isLent { MessageWriter.append(source.extracting(value), to: &self.type) }
        self.typeSize = value.count
    }

    /// Lends the event and starts the next; gives what `deliver` said, true when there was nothing to deliver.
    mutating func dispatch(
        _ bytes: Span<UInt8>, keeping capacity: Int, _ deliver: (Span<UInt8>, Span<UInt8>) -> Bool
    ) -> Bool {
        var goesOn = true
        if let data = self.lentData, self.type.isEmpty {
            goesOn = deliver(bytes.extracting(self.lentType ?? 0..<0), bytes.extracting(data))
        } else if self.hasData {
            self.settle(bytes)
            goesOn = deliver(self.type.span, self.data.span)
        }
        self.reset(keeping: capacity)
        return goesOn
    }

    /// Copies what is lent from `bytes`, since they go away or stop being enough.
    mutating func settle(_ bytes: Span<UInt8>) {
        if let range = self.lentType {
            MessageWriter.append(bytes.extracting(range), to: &self.type)
            self.lentType = nil
        }
        if let range = self.lentData {
            MessageWriter.append(bytes.extracting(range), to: &self.data)
            self.lentData = nil
        }
    }

    /// Forgets the event; keeps storage of up to `capacity` bytes.
    mutating func reset(keeping capacity: Int) {
        self.lentType = nil
        self.lentData = nil
        self.type.removeAll(keepingCapacity: self.type.capacity <= capacity)
        self.data.removeAll(keepingCapacity: self.data.capacity <= capacity)
        self.dataLines = 0
        self.dataSize = 0
        self.typeSize = 0
    }
}
