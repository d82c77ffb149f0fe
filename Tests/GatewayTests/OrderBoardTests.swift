import GatewayTypes
import Quota
import Testing

@testable import Gateway

/// What the process knows of revoked tokens and given plans.
@Suite struct OrderBoardTests {
    private let board = OrderBoard()
    private let now = WallTime(seconds: 1_800_000_000)

    private func principal(
        _ subject: SubjectID = "u1", tenant: TenantID = "acme", token: ByteString? = "j", session: ByteString? = "s",
        issuedAt: WallTime? = WallTime(seconds: 1_799_999_000), isGuest: Bool = false
    ) -> Principal {
        Principal(
            tenant: tenant, subject: subject, plan: "free", isGuest: isGuest, tokenID: token, sessionID: session,
            issuedAt: issuedAt, expiresAt: self.now)
    }

    private func give(_ order: StandingOrder, version: Int = 1, _ book: OrderBook = .operators) {
        var order = order
        order.version = version
        self.board.take([order], book, of: "acme")
    }

    @Test func aTokenASessionAndASubjectAreRevokedInTheirTenantOnly() {
        #expect(!self.board.isRevoked(self.principal()))
        self.give(StandingOrder(.token("j")))
        #expect(self.board.isRevoked(self.principal()))
        #expect(!self.board.isRevoked(self.principal(token: "k")))
        #expect(!self.board.isRevoked(self.principal(token: nil)))
        #expect(!self.board.isRevoked(self.principal(tenant: "borealis")))
        self.give(StandingOrder(.session("z")), version: 2)
        #expect(self.board.isRevoked(self.principal(token: nil, session: "z")))
        // A session's id is no token's id.
        #expect(!self.board.isRevoked(self.principal(token: "z")))
    }

    @Test func tokensIssuedBeforeATimeAreRevokedAndThoseThatSayNothing() {
        let before = WallTime(seconds: 1_799_999_500)
        self.give(StandingOrder(.subject("u1"), issuedBefore: before))
        #expect(self.board.isRevoked(self.principal(issuedAt: WallTime(seconds: 1_799_999_499))))
        #expect(!self.board.isRevoked(self.principal(issuedAt: before)))
        #expect(self.board.isRevoked(self.principal(issuedAt: nil)))
        #expect(!self.board.isRevoked(self.principal("u2", issuedAt: nil)))
    }

    @Test func aClosedGuestIsClosedForGuestsAlone() {
        self.give(StandingOrder(.guest("guest:g"), issuedBefore: self.now), .guests)
        #expect(self.board.isRevoked(self.principal("guest:g", isGuest: true)))
        #expect(!self.board.isRevoked(self.principal("guest:g")))
        #expect(self.board.earliestIssue(of: "guest:g", in: "acme") == self.now)
    }

    @Test func whatWasLiftedIsForgottenAndOldNewsChangesNothing() {
        self.give(StandingOrder(.token("j")), version: 5)
        self.give(StandingOrder(.token("j"), isLifted: true), version: 4)
        #expect(self.board.isRevoked(self.principal()))
        self.give(StandingOrder(.token("j"), isLifted: true), version: 6)
        #expect(!self.board.isRevoked(self.principal()))
        #expect(self.board.orderCount == 0)
    }

    @Test func ordersAreForgottenWhenTheyAreOver() {
        self.give(StandingOrder(.token("j"), expiresAt: self.now))
        self.give(StandingOrder(.token("k"), expiresAt: self.now + .seconds(1)), version: 2)
        self.board.expire(at: self.now)
        #expect(self.board.orderCount == 1)
        #expect(!self.board.isRevoked(self.principal()) && self.board.isRevoked(self.principal(token: "k")))
    }

    @Test func aGivenPlanHoldsForItsTime() {
        self.give(StandingOrder(.plan("u1"), plan: "pro", expiresAt: self.now + .seconds(5)))
        #expect(self.board.plan(of: "u1", in: "acme", at: self.now) == "pro")
        #expect(self.board.plan(of: "u1", in: "acme", at: self.now + .seconds(5)) == nil)
        #expect(self.board.plan(of: "u2", in: "acme", at: self.now) == nil)
        #expect(self.board.plan(of: "u1", in: "borealis", at: self.now) == nil)
    }

    @Test func everyPageOfTheStoreIsHeard() async throws {
        let clock = FixedClock(wall: self.now)
        let store = MemoryStore(clock: clock)
        let by = OperatorOrder(actor: "op", reason: "r")
        for number in 0..<(StandingOrder.mostOnPage * 2 + 3) {
            store.order(StandingOrder(.token(ByteString("j\(number)"))), in: "acme", by: by)
        }
        try await OrderKeeper.refresh(.operators, of: "acme", self.board, store)
        #expect(self.board.orderCount == StandingOrder.mostOnPage * 2 + 3)
        #expect(store.order(StandingOrder(.token("j7"), isLifted: true), in: "acme", by: by) != .unknown)
        try await OrderKeeper.refresh(.operators, of: "acme", self.board, store)
        #expect(self.board.orderCount == StandingOrder.mostOnPage * 2 + 2)
    }

    @Test func operatorsHaveSoManyOrdersAndNoMore() {
        let store = MemoryStore(clock: FixedClock(wall: self.now))
        let by = OperatorOrder(actor: "op", reason: "r")
        for number in 0..<StandingOrder.mostOfOperators {
            store.order(StandingOrder(.token(ByteString("j\(number)"))), in: "acme", by: by)
        }
        #expect(store.order(StandingOrder(.token("more")), in: "acme", by: by) == .full)
        // One that is there can be given again, and other tenants are not concerned.
        #expect(store.order(StandingOrder(.token("j7")), in: "acme", by: by) != .full)
        #expect(store.order(StandingOrder(.token("more")), in: "borealis", by: by) != .full)
    }
}

private struct FixedClock: GatewayTypes.Clock {
    let wall: WallTime
    func wallTime() -> WallTime { self.wall }
    func monotonicTime() -> MonotonicTime { MonotonicTime(nanoseconds: 1) }
}
