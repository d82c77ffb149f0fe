import Authentication
import EventLoops
import GatewayTypes
import HTTPCodec
import HTTPServer
import JSON
import Quota

/// `POST /v1/guest-sessions` and `POST /v1/guest-sessions/claim`.
extension DataPlane {
    /// Most bytes of a body; a token and a little.
    private static let bodyLimit = 16_384

    // MARK: A guest's token

    /// Gives an installation the token of its guest.
    func createGuestSession(_ context: AskContext) async {
        do throws(AskFailure) {
            let body = try await self.guestBody(context)
            let issuer = try self.guestIssuer(body, context)
            guard let installation = body["installationId"]?.bytes, Self.isInstallation(installation) else {
                throw AskFailure(
                    .invalidRequest, detail: "`installationId` has to be a text of 16 to 200 bytes on one line.")
            }
            try await self.countGuestSession(issuer, context)
            let guest = issuer.subject(of: installation.span)
            let (token, expiry) = try self.issue(issuer, guest, context)
            let plan = context.snapshot.tenants[issuer.tenant]?.guestPlan
            self.answer(201, Self.session(token, expiry, plan: plan, now: context.startedAt), context)
        } catch {
            context.status = error.respond(to: context)
        }
    }

    private static func isInstallation(_ bytes: [UInt8]) -> Bool {
        (16...200).contains(bytes.count) && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    private func issue(
        _ issuer: GuestIssuer, _ guest: SubjectID, _ context: AskContext
    ) throws(AskFailure) -> (token: [UInt8], expiresAt: WallTime) {
        do {
            return try issuer.issue(
                to: guest, tokenID: context.id, now: context.startedAt,
                earliest: context.loop.board.earliestIssue(of: guest, in: issuer.tenant))
        } catch {
            throw AskFailure(.internalError)
        }
    }

    /// The issuer of the tenant that the body names, or of the only tenant that has guests.
    private func guestIssuer(_ body: JSONValue, _ context: AskContext) throws(AskFailure) -> GuestIssuer {
        let issuers = context.snapshot.guests
        if let named = body["tenant"] {
            guard let name = named.string, let issuer = issuers[TenantID(name)] else {
                throw AskFailure(.invalidRequest, detail: "`tenant` names no tenant that has guests.")
            }
            return issuer
        }
        guard let only = issuers.first?.value else { throw AskFailure(.notFound) }
        guard issuers.count == 1 else {
            throw AskFailure(.invalidRequest, detail: "`tenant` is missing: whose guest is it to be?")
        }
        return only
    }

    /// Takes one of the tokens that the caller's address may get in a minute; every instance counts with the others.
    private func countGuestSession(_ issuer: GuestIssuer, _ context: AskContext) async throws(AskFailure) {
        guard let tenant = context.snapshot.tenants[issuer.tenant] else { throw AskFailure(.internalError) }
        // Apart from the counters of asks, which no address can be mistaken for.
        let address = ByteString(CounterKey.guestSessions.string + context.client.callerText.string)
        let ask = QuotaAsk(
            caller: QuotaCaller(tenant: issuer.tenant, subject: "", address: address),
            limits: [Limit(.requestsPerMinute, scope: .address, quantity: issuer.sessionsPerMinute)],
            calendar: tenant.calendar, promptEstimate: 0, outputCap: 0, request: context.id)
        if let refusal = context.loop.gate.precheck(ask.caller, limits: ask.limits) { throw AskFailure(refusal) }
        let decision = await context.loop.gate.admit(ask)
        switch consume decision {
        case .admitted(let reservation): reservation.release()
        case .refused(let refusal): throw AskFailure(refusal)
        case .blocked: throw AskFailure(.subjectBlocked)
        case .unavailable(_, let seconds):
            var failure = AskFailure(.quotaStoreUnavailable)
            failure.retryAfterSeconds = seconds
            throw failure
        }
    }

    private static func session(_ token: [UInt8], _ expiry: WallTime, plan: PlanName?, now: WallTime) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("accessToken")
        json.string(utf8: token)
        json.name("tokenType")
        json.string("Bearer")
        json.name("expiresIn")
        json.integer(Int(max(0, expiry.seconds - now.seconds)))
        json.name("plan")
        if let plan { json.string(plan.string) } else { json.null() }
        json.endObject()
        return json.bytes
    }

    // MARK: Handing over

    /// Charges what a guest has used today to the account that asks, and closes the guest.
    func claimGuestSession(_ context: AskContext) async {
        do throws(AskFailure) {
            try await self.pipeline.authenticate(context)
            guard let account = context.principal, let tenant = context.tenant else { throw AskFailure(.internalError) }
            guard !account.isGuest else {
                throw AskFailure(.invalidRequest, detail: "A guest cannot take over another; sign in first.")
            }
            let body = try await self.guestBody(context)
            let handOver = try self.handOver(body["guestToken"]?.bytes ?? [], to: account, tenant, context)
            let tokens = try await self.carryOut(handOver, context)
            await self.refreshGuests(of: account.tenant, context)
            var json = JSONWriter()
            json.beginObject()
            json.name("claimed")
            json.bool(true)
            json.name("tokensCharged")
            json.integer(tokens)
            json.endObject()
            self.answer(200, json.bytes, context)
        } catch {
            context.status = error.respond(to: context)
        }
    }

    private static var notAGuestToken: AskFailure {
        AskFailure(.invalidRequest, detail: "`guestToken` is no valid token of a guest of this app.")
    }

    private func handOver(
        _ token: [UInt8], to account: Principal, _ tenant: TenantSnapshot, _ context: AskContext
    ) throws(AskFailure) -> HandOver {
        let guest: Principal
        do throws(AuthenticationFailure) {
            guest = try context.snapshot.authenticator.authenticate(
                authorization: (Array("Bearer ".utf8) + token).span, fieldCount: 1, queryHasToken: false,
                cache: context.loop.tokens, now: context.startedAt, checksRevocations: false,
                mayVerify: { context.wait == nil })
        } catch {
            context.noteFailure(error)
            guard error != .tooManyFailures else { throw AskFailure(error) }
            throw Self.notAGuestToken
        }
        guard guest.isGuest, guest.tenant == account.tenant, let id = guest.tokenID else { throw Self.notAGuestToken }
        let lifetime = context.snapshot.guests[guest.tenant]?.lifetime ?? .seconds(0)
        // With the leeway that clocks are given.
        let end = max(guest.expiresAt, context.startedAt + lifetime) + .seconds(60)
        return HandOver(
            tenant: guest.tenant, guest: guest.subject, account: account.subject, token: id, forgetAt: end,
            calendar: tenant.calendar, onlyRepeats: context.loop.board.isRevoked(guest))
    }

    private func carryOut(_ handOver: HandOver, _ context: AskContext) async throws(AskFailure) -> Int {
        let result: HandOverResult
        do throws(QuotaFailure) {
            result = try await context.loop.gate.store.handOver(handOver)
        } catch {
            throw AskFailure(.quotaStoreUnavailable)
        }
        switch result {
        case .charged(let tokens), .repeated(let tokens): return tokens
        case .taken: throw AskFailure(.guestSessionClaimed)
        case .refused: throw Self.notAGuestToken
        }
    }

    /// Closes the guest here with the answer; the other instances hear of it soon.
    private func refreshGuests(of tenant: TenantID, _ context: AskContext) async {
        do throws(QuotaFailure) {
            try await OrderKeeper.refresh(.guests, of: tenant, context.loop.board, context.loop.gate.store)
        } catch {
            // Left to the keeper, which asks again and again.
        }
    }

    // MARK: Bodies

    private func guestBody(_ context: AskContext) async throws(AskFailure) -> JSONValue {
        if context.exchange.head.withValue(of: .contentType, { MediaType.isJSON($0) }) == false {
            throw AskFailure(.unsupportedMediaType)
        }
        let bytes: [UInt8]
        do throws(HTTPServerFailure) {
            bytes = try await context.exchange.readBody(limit: Self.bodyLimit)
        } catch {
            throw AskFailure(error)
        }
        let limits = JSONLimits(bytes: Self.bodyLimit, depth: 8)
        guard let root = try? JSONDocument(parsing: bytes, limits: limits).root, root.kind == .object else {
            throw AskFailure(.invalidRequest)
        }
        return root
    }
}
