package import GatewayTypes

/// Something that every instance has to know of a token or a subject before it reads a request: that tokens are
/// revoked, or that an operator has given somebody a plan.
///
/// Kept by the store, and by every instance in memory; see `QuotaStore.orders`.
package struct StandingOrder: Hashable, Sendable {
    /// What it is about; there is one order for each.
    package enum Target: Hashable, Sendable {
        /// The token of this `jti`.
        case token(ByteString)
        /// Every token of this `sid`.
        case session(ByteString)
        /// Every token of the subject that was issued before some time.
        case subject(SubjectID)
        /// The subject's plan.
        case plan(SubjectID)
        /// Every token of the guest that was issued before some time: an account has taken the guest over.
        case guest(SubjectID)
    }

    package var target: Target
    /// Tokens issued earlier are revoked; for subjects and guests.
    package var issuedBefore: WallTime?
    /// The plan that was given; for plans.
    package var plan: PlanName?
    /// When it is forgotten: the tokens have expired by then, or the plan was given for that long; nil for never.
    package var expiresAt: WallTime?
    /// When it was given, by the store's clock.
    package var at: WallTime
    package var actor: ByteString
    package var reason: ByteString
    /// Rises from order to order of one book.
    package var version: Int
    /// It was taken back; told for `StandingOrder.afterlife`, so that every instance hears of it.
    package var isLifted = false

    package init(
        _ target: Target, issuedBefore: WallTime? = nil, plan: PlanName? = nil, expiresAt: WallTime? = nil,
        at: WallTime = WallTime(seconds: 0), actor: ByteString = "", reason: ByteString = "", version: Int = 0,
        isLifted: Bool = false
    ) {
        self.target = target
        self.issuedBefore = issuedBefore
        self.plan = plan
        self.expiresAt = expiresAt
        self.at = at
        self.actor = actor
        self.reason = reason
        self.version = version
        self.isLifted = isLifted
    }

    /// How long it is told that an order was lifted. An instance that hears nothing for longer keeps the order.
    package static let afterlife = TimeSpan.seconds(7 * 86_400)
    /// Orders of operators that a tenant may have; more are refused.
    package static let mostOfOperators = 10_000
    /// Guests taken over that a tenant remembers; the oldest go, whose tokens are then good again for the guest that
    /// they were issued to.
    package static let mostOfGuests = 50_000
    /// Orders of one answer.
    package static let mostOnPage = 500

    package func isInForce(at time: WallTime) -> Bool { !self.isLifted && self.expiresAt.map { $0 > time } ?? true }
}

/// Which orders of a tenant; guests come and go by themselves and must not crowd operators' orders out.
package enum OrderBook: Hashable, Sendable, CaseIterable {
    case operators
    case guests
}

/// What became of an order.
package enum OrderResult: Hashable, Sendable {
    /// In force, or lifted, as the order says, with its version.
    case applied(StandingOrder)
    /// There was nothing to lift.
    case unknown
    /// The tenant has as many as it may have.
    case full
}

/// A signed-in user takes over what one guest has used today.
package struct HandOver: Sendable {
    package var tenant: TenantID
    package var guest: SubjectID
    package var account: SubjectID
    /// `jti` of the guest's token; it hands over once.
    package var token: ByteString
    /// From then on no token of the guest that was issued until now can be good.
    package var forgetAt: WallTime
    package var calendar: ZoneCalendar
    /// Only a repetition is answered: the token was revoked.
    package var onlyRepeats: Bool

    package init(
        tenant: TenantID, guest: SubjectID, account: SubjectID, token: ByteString, forgetAt: WallTime,
        calendar: ZoneCalendar, onlyRepeats: Bool = false
    ) {
        self.tenant = tenant
        self.guest = guest
        self.account = account
        self.token = token
        self.forgetAt = forgetAt
        self.calendar = calendar
        self.onlyRepeats = onlyRepeats
    }
}

/// What became of a hand-over.
package enum HandOverResult: Hashable, Sendable {
    /// Tokens charged to the account's day.
    case charged(Int)
    /// The same account has taken this token before; what it was charged then. Nothing was moved.
    case repeated(Int)
    /// Another account has taken this token.
    case taken
    /// The token was revoked and never handed over.
    case refused
}
