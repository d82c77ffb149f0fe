import GatewayTypes
import Quota
import Testing

extension StoreContract {
    private static let tenant = StoreBench.tenant
    private static let by = OperatorOrder(actor: "mina", reason: "posted in a forum")

    static let orderChecks: [ContractCheck] = [
        ContractCheck("orders are told by version, with who gave them and why, and lifted ones too") { bench in
            let wall = WallTime(seconds: 1_800_000_000)
            await bench.clock.set(wall: wall)
            let end = wall + .seconds(3600)
            var token = StandingOrder(.token("\u{e9}\u{301}.j"), expiresAt: end)
            let given = try await bench.store.order(token, in: Self.tenant, by: Self.by)
            guard case .applied(let first) = given else { throw ContractBroken() }
            #expect(first.version > 0 && first.at == wall && first.expiresAt == end && !first.isLifted)
            #expect(first.actor == "mina" && first.reason == "posted in a forum" && first.target == token.target)
            let subject = StandingOrder(.subject("u1"), issuedBefore: wall, expiresAt: end)
            let plan = StandingOrder(.plan("u1"), plan: "pro")
            let session = StandingOrder(.session("s"), expiresAt: end)
            for order in [subject, plan, session] { try await bench.give(order) }
            let all = try await bench.store.orders(.operators, of: Self.tenant, since: 0)
            #expect(all.map(\.target) == [token.target, .subject("u1"), .plan("u1"), .session("s")])
            #expect(all.map(\.version) == all.map(\.version).sorted() && Set(all.map(\.version)).count == 4)
            #expect(all[1].issuedBefore == wall && all[2].plan == "pro" && all[2].expiresAt == nil)
            let news = try await bench.store.orders(.operators, of: Self.tenant, since: all[2].version)
            #expect(news.map(\.target) == [.session("s")])
            token.isLifted = true
            try await bench.give(token)
            let lifted = try await bench.store.orders(.operators, of: Self.tenant, since: all[3].version)
            #expect(lifted.map(\.target) == [token.target] && lifted.map(\.isLifted) == [true])
            #expect(try await bench.store.orders(.guests, of: Self.tenant, since: 0) == [])
            #expect(try await bench.store.orders(.operators, of: "other", since: 0) == [])
        },
        ContractCheck("what is not there cannot be lifted, also once it is over") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let lift = StandingOrder(.token("j"), isLifted: true)
            #expect(try await bench.store.order(lift, in: Self.tenant, by: Self.by) == .unknown)
            try await bench.give(StandingOrder(.token("j"), expiresAt: WallTime(seconds: 1_800_000_010)))
            await bench.clock.advance(by: .seconds(10))
            #expect(try await bench.store.order(lift, in: Self.tenant, by: Self.by) == .unknown)
            try await bench.give(StandingOrder(.token("j"), expiresAt: WallTime(seconds: 1_800_000_090)))
            try await bench.give(lift)
            #expect(try await bench.store.order(lift, in: Self.tenant, by: Self.by) == .unknown)
        },
        ContractCheck("a second order for a subject reaches as far as the first") { bench in
            let wall = WallTime(seconds: 1_800_000_000)
            await bench.clock.set(wall: wall)
            let far = StandingOrder(.subject("u1"), issuedBefore: wall, expiresAt: wall + .seconds(900))
            let near = StandingOrder(
                .subject("u1"), issuedBefore: WallTime(seconds: 1_700_000_000), expiresAt: wall + .seconds(90))
            try await bench.give(far)
            try await bench.give(near)
            let orders = try await bench.store.orders(.operators, of: Self.tenant, since: 0)
            #expect(orders.map(\.issuedBefore) == [wall] && orders.map(\.expiresAt) == [wall + .seconds(900)])
        },
        ContractCheck("orders leave entries in the trail, of the subject or of the tenant") { bench in
            let wall = WallTime(seconds: 1_800_000_000)
            await bench.clock.set(wall: wall)
            try await bench.give(StandingOrder(.token("jti-1"), expiresAt: wall + .seconds(60)))
            try await bench.give(StandingOrder(.plan("u1"), plan: "pro"))
            try await bench.give(StandingOrder(.plan("u1"), isLifted: true))
            let all = try await bench.store.audit(AuditQuestion(.tenant(Self.tenant))).entries
            #expect(all.map(\.action) == [.clearPlan, .givePlan, .revokeToken])
            #expect(all.map(\.object) == ["", "pro", "jti-1"])
            #expect(all.map(\.key.scope) == [.subject, .subject, .tenant] && all[2].actor == "mina")
            #expect(all[2].expiresAt == wall + .seconds(60))
            let own = try await bench.store.audit(AuditQuestion(.holder(.subject("u1", of: Self.tenant)))).entries
            #expect(own.map(\.action) == [.clearPlan, .givePlan])
            #expect(all.map(\.stateBefore) == [.plan("pro"), .plan(nil), .untold])
            #expect(all.map(\.stateAfter) == [.plan(nil), .plan("pro"), .untold])
        },
        ContractCheck("the trail tells the plan that was given before, unless that was over") { bench in
            let wall = WallTime(seconds: 1_800_000_000)
            await bench.clock.set(wall: wall)
            try await bench.give(StandingOrder(.plan("u1"), plan: "pro"))
            try await bench.give(StandingOrder(.plan("u1"), plan: "caf\u{e9}", expiresAt: wall + .seconds(60)))
            await bench.clock.advance(by: .seconds(60))
            try await bench.give(StandingOrder(.plan("u1"), plan: "free"))
            let entries = try await bench.store.audit(AuditQuestion(.tenant(Self.tenant))).entries
            #expect(entries.map(\.stateBefore) == [.plan(nil), .plan("pro"), .plan(nil)])
        },
        ContractCheck("orders that are over make room, and a page is no longer than a page") { bench in
            let wall = WallTime(seconds: 1_800_000_000)
            await bench.clock.set(wall: wall)
            for number in 0..<StandingOrder.mostOnPage + 20 {
                try await bench.give(
                    StandingOrder(.token(ByteString("j\(number)")), expiresAt: wall + .seconds(number < 20 ? 5 : 500)))
            }
            let page = try await bench.store.orders(.operators, of: Self.tenant, since: 0)
            #expect(page.count == StandingOrder.mostOnPage)
            await bench.clock.advance(by: .seconds(6))
            try await bench.give(StandingOrder(.token("last"), expiresAt: wall + .seconds(500)))
            var seen: [StandingOrder.Target] = []
            var since = 0
            while let next = try await bench.store.orders(.operators, of: Self.tenant, since: since).last {
                seen += try await bench.store.orders(.operators, of: Self.tenant, since: since).map(\.target)
                since = next.version
            }
            #expect(seen.count == StandingOrder.mostOnPage + 1 && !seen.contains(.token("j3")))
        },
    ]

    static let handOverChecks: [ContractCheck] = [
        ContractCheck("a guest's day is charged to the account once for each token, and the guest is closed") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.spend(300, as: "guest:g")
            try await bench.spend(50, as: "alice")
            let first = bench.handOver("j1", to: "alice")
            #expect(try await bench.store.handOver(first) == .charged(300))
            #expect(try await bench.spent("alice") == 350)
            // The guest's own counter stays: its next token does not find a new day.
            #expect(try await bench.spent("guest:g") == 300)
            #expect(try await bench.store.handOver(first) == .repeated(300))
            #expect(try await bench.store.handOver(bench.handOver("j1", to: "bob")) == .taken)
            #expect(try await bench.spent("alice") == 350)
            #expect(try await bench.spent("bob") == 0)
            let closed = try await bench.store.orders(.guests, of: Self.tenant, since: 0)
            #expect(closed.map(\.target) == [.guest("guest:g")])
            #expect(closed.first?.issuedBefore == WallTime(seconds: 1_800_000_000))
            #expect(closed.first?.expiresAt == first.forgetAt)
        },
        ContractCheck("a later token of the guest hands over only what came since") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.spend(300, as: "guest:g")
            #expect(try await bench.store.handOver(bench.handOver("j1", to: "alice")) == .charged(300))
            try await bench.spend(40, as: "guest:g")
            #expect(try await bench.store.handOver(bench.handOver("j2", to: "bob")) == .charged(40))
            #expect(try await bench.store.handOver(bench.handOver("j3", to: "bob")) == .charged(0))
            #expect(try await bench.spent("alice") == 300)
            #expect(try await bench.spent("bob") == 40)
        },
        ContractCheck("yesterday's usage is nobody's any more, and a revoked token only repeats") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.spend(300, as: "guest:g")
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000 + 86_400))
            try await bench.spend(7, as: "guest:g")
            var revoked = bench.handOver("j1", to: "alice")
            revoked.onlyRepeats = true
            #expect(try await bench.store.handOver(revoked) == .refused)
            #expect(try await bench.store.handOver(bench.handOver("j1", to: "alice")) == .charged(7))
            #expect(try await bench.store.handOver(revoked) == .repeated(7))
            #expect(try await bench.spent("alice") == 7)
        },
        ContractCheck("what an ask that runs has reserved is charged with the rest") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let ask = bench.ask("guest:g", [.day(100_000)], prompt: 10, output: 100)
            try await bench.pass(ask)
            #expect(try await bench.store.handOver(bench.handOver("j1", to: "alice")) == .charged(110))
        },
        ContractCheck("what an ask took less than it had reserved is given back to the account that took it over") {
            bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.spend(300, as: "guest:g")
            try await bench.spend(50, as: "alice")
            let (ask, other) = (bench.run("guest:g"), bench.run("guest:g"))
            let (grant, otherGrant) = (try await bench.pass(ask), try await bench.pass(other))
            #expect(try await bench.move("j1", to: "alice") == .charged(520))
            for _ in 0..<2 { try await bench.settle(ask, grant, tokens: 25) }
            #expect(try await bench.spent("alice") == 50 + 300 + 25 + 110)
            // More than was reserved, too.
            try await bench.settle(other, otherGrant, tokens: 130)
            #expect(try await bench.spent("alice") == 50 + 300 + 25 + 130)
            #expect(try await bench.spent("guest:g") == 300 + 25 + 130)
            // The guest's next token hands over what came since, and no more.
            #expect(try await bench.move("j2", to: "bob") == .charged(0))
            try await bench.spend(7, as: "guest:g")
            #expect(try await bench.move("j3", to: "bob") == .charged(7))
        },
        ContractCheck("an ask's reservation is corrected where it went, and an ask that came later nowhere") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            let first = bench.run("guest:g")
            let firstGrant = try await bench.pass(first)
            #expect(try await bench.move("j1", to: "alice") == .charged(110))
            let second = bench.run("guest:g")
            let secondGrant = try await bench.pass(second)
            #expect(try await bench.move("j2", to: "bob") == .charged(110))
            let third = bench.run("guest:g")
            let thirdGrant = try await bench.pass(third)
            try await bench.settle(third, thirdGrant, tokens: 3)
            try await bench.settle(second, secondGrant, tokens: 2)
            try await bench.settle(first, firstGrant, tokens: 1)
            #expect(try await bench.spent("alice") == 1)
            #expect(try await bench.spent("bob") == 2)
            #expect(try await bench.move("j3", to: "carol") == .charged(3))
        },
        ContractCheck("what a reset has wiped out is not corrected") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            for (name, holder) in [("a", "alice-a" as SubjectID), ("g", "guest:g")] {
                let guest: SubjectID = name == "a" ? "guest:a" : "guest:g"
                let ask = bench.run(guest)
                let grant = try await bench.pass(ask)
                // The guest's own counters are reset before the hand-over, the account's behind it.
                let reset = CounterKey.subject(holder, of: Self.tenant)
                if name == "g" { try await bench.store.apply(.reset(nil), to: reset) }
                let moved = try await bench.move(ByteString("j\(name)"), to: SubjectID("alice-\(name)"), of: guest)
                #expect(moved == .charged(name == "g" ? 0 : 110))
                if name == "a" { try await bench.store.apply(.reset(nil), to: reset) }
                try await bench.spend(40, as: SubjectID("alice-\(name)"))
                try await bench.settle(ask, grant, tokens: 25)
                #expect(try await bench.spent(SubjectID("alice-\(name)")) == 40)
            }
        },
        ContractCheck("tenants share no guests") { bench in
            await bench.clock.set(wall: WallTime(seconds: 1_800_000_000))
            try await bench.spend(300, as: "guest:g")
            var other = bench.handOver("j1", to: "alice")
            other.tenant = "borealis"
            #expect(try await bench.store.handOver(other) == .charged(0))
            #expect(try await bench.spent("alice") == 0)
            #expect(try await bench.store.orders(.guests, of: Self.tenant, since: 0) == [])
        },
    ]
}

extension StoreBench {
    fileprivate func give(_ order: StandingOrder, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let by = OperatorOrder(actor: "mina", reason: "test")
        guard case .applied = try await self.store.order(order, in: Self.tenant, by: by) else {
            Issue.record("not applied", sourceLocation: sourceLocation)
            throw ContractBroken()
        }
    }

    fileprivate func handOver(
        _ token: ByteString, to account: SubjectID, of guest: SubjectID = "guest:g"
    ) -> HandOver {
        HandOver(
            tenant: Self.tenant, guest: guest, account: account, token: token,
            forgetAt: WallTime(seconds: 1_800_000_000 + 3 * 86_400), calendar: .utc)
    }

    /// Hands over a moment after what was before it, and a moment before what comes.
    fileprivate func move(
        _ token: ByteString, to account: SubjectID, of guest: SubjectID = "guest:g"
    ) async throws -> HandOverResult {
        await self.clock.advance(by: .milliseconds(1))
        let result = try await self.store.handOver(self.handOver(token, to: account, of: guest))
        await self.clock.advance(by: .milliseconds(1))
        return result
    }

    /// An ask that reserves 110 tokens.
    fileprivate func run(_ subject: SubjectID) -> QuotaAsk {
        self.ask(subject, [.day(100_000)], prompt: 10, output: 100)
    }

    fileprivate func spend(_ tokens: Int, as subject: SubjectID) async throws {
        let ask = self.ask(subject, [.day(100_000)], prompt: 1, output: 1)
        try await self.settle(ask, self.pass(ask), tokens: tokens)
    }

    fileprivate func spent(_ subject: SubjectID) async throws -> Int {
        try await self.used(self.ask(subject, [.day(100_000)]))
    }
}
