import GatewayTypes

/// What a repeated admission is told of an ask that has settled.
struct EndedAsk {
    let outputTokens: Int
    let reservedTokens: Int
    let day: LocalDay
    /// Nanoseconds of the monotonic clock.
    let forgetAt: Int64
}

/// The asks that have settled within `requestMemory`, in two generations: the older goes as a whole, which costs
/// nothing, when the newer is full or has been filled for long enough.
struct EndedAsks {
    /// Asks in a generation, at most; when more end within five minutes the oldest are forgotten earlier. A settlement
    /// that is repeated after that still moves nothing.
    static let mostRemembered = 32_768

    private var newer = StripedTable<RequestID, EndedAsk>()
    private var older = StripedTable<RequestID, EndedAsk>()
    private var newerSince: Int64 = 0

    var isEmpty: Bool { self.newer.count == 0 && self.older.count == 0 }

    mutating func remember(_ request: RequestID, _ ask: EndedAsk, at now: Int64) {
        self.turnGenerations(at: now)
        self.newer.set(ask, for: request)
    }

    func find(_ request: RequestID, at now: Int64) -> EndedAsk? {
        guard let ask = self.newer[request] ?? self.older[request], ask.forgetAt > now else { return nil }
        return ask
    }

    /// Forgets what is over; also to be called when nothing ends any more.
    mutating func turnGenerations(at now: Int64) {
        let isFull = self.newer.count >= Self.mostRemembered
        guard isFull || now >= self.newerSince &+ requestMemory.nanoseconds else { return }
        // Of a generation that has rested for another period nothing is remembered.
        let isOver = now >= self.newerSince &+ 2 &* requestMemory.nanoseconds
        if self.newer.count > 0 || self.older.count > 0 {
            self.older = isOver ? StripedTable() : self.newer
            self.newer = StripedTable()
        }
        self.newerSince = now
    }
}
