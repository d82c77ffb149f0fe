/// The accounts of a tenant, and a walk over them that takes a few steps at a time.
struct AccountTable {
    private var table = StripedTable<AccountKey, Account>()
    private var order: [Account] = []
    private var cursor = 0

    var count: Int { self.order.count }

    func find(_ key: AccountKey) -> Account? { self.table[key] }

    /// A new account for a key that has none.
    mutating func open(_ key: AccountKey) -> Account {
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
