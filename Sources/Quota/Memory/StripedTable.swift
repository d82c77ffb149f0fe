import GatewayTypes

/// A key that says which stripe of a table it lies in.
protocol StripedKey: Hashable {
    /// Spread evenly in its lowest bits.
    var stripe: Int { get }
}

extension RequestID: StripedKey {
    var stripe: Int { Int(truncatingIfNeeded: self.low) }
}

/// A dictionary in 64 parts, so that growing it moves a sixty-fourth of it at a time and makes no long pause.
struct StripedTable<Key: StripedKey, Value> {
    private var stripes = [[Key: Value]](repeating: [:], count: 64)
    private(set) var count = 0

    subscript(key: Key) -> Value? { self.stripes[key.stripe & 63][key] }

    mutating func set(_ value: Value, for key: Key) {
        if self.stripes[key.stripe & 63].updateValue(value, forKey: key) == nil { self.count &+= 1 }
    }

    mutating func remove(_ key: Key) {
        let stripe = key.stripe & 63
        guard self.stripes[stripe].removeValue(forKey: key) != nil else { return }
        self.count &-= 1
        if self.stripes[stripe].isEmpty { self.stripes[stripe] = [:] }
    }

    func forEach(_ body: (Value) -> Void) {
        for stripe in self.stripes { for value in stripe.values { body(value) } }
    }
}

/// The accounts of a tenant, and a walk over them that takes a few steps at a time.
struct AccountTable {
    private var table = StripedTable<AccountKey, Account>()
    private var order: [Account] = []
    private var cursor = 0

    var count: Int { self.order.count }

    func find(_ key: AccountKey) -> Account? { self.table[key] }

    mutating func open(_ key: AccountKey) -> Account {
        if let account = self.table[key] { return account }
        let account = Account(key: key)
        account.position = self.order.count
        self.order.append(account)
        self.table.set(account, for: key)
        return account
    }

    /// Looks at the next few accounts and forgets the idle ones.
    mutating func sweep(steps: Int, at now: Int64, days: (Int, Int)) {
        for _ in 0..<min(steps, self.order.count) {
            if self.cursor >= self.order.count { self.cursor = 0 }
            let account = self.order[self.cursor]
            if account.isIdle(at: now, days: days) { self.forget(account) } else { self.cursor &+= 1 }
        }
    }

    private mutating func forget(_ account: Account) {
        self.table.remove(account.key)
        let last = self.order.removeLast()
        if last !== account {
            last.position = account.position
            self.order[account.position] = last
        }
        if self.order.capacity > 1024 && self.order.count &* 4 < self.order.capacity { self.giveBack() }
    }

    private mutating func giveBack() {
        var order: [Account] = []
        order.reserveCapacity(self.order.count &* 2)
        order.append(contentsOf: self.order)
        self.order = order
    }
}
