import Authentication
import GatewayTesting
import GatewayTypes
import JOSE
import Testing

private func entry(
    _ tenant: TenantID, audiences: [ByteString] = ["gateway"], mint: TokenMint = Bench.mint,
    _ change: (inout IssuerConfiguration) -> Void = { _ in }
) -> IssuerConfiguration {
    Bench.issuer {
        $0.tenant = tenant
        $0.audiences = audiences
        $0.keys = mint.keySet
        change(&$0)
    }
}

private func fault(_ issuers: [IssuerConfiguration]) -> ConfigurationFailure? {
    do {
        try AuthenticationConfiguration(issuers: issuers).check()
        return nil
    } catch { return error }
}

@Suite("Which tenant a token belongs to")
struct TenantTests {
    @Test("Audiences tell tenants of one issuer apart")
    func audiences() throws {
        let bench = try Bench(issuers: [entry("a", audiences: ["app-a"]), entry("b", audiences: ["app-b"])])
        func tenant(_ audience: String) throws -> TenantID {
            try bench.principal(Bench.mint.token(claims: TokenMint.claims(changes: ["aud": audience]))).tenant
        }
        #expect(try tenant(#""app-a""#) == "a")
        #expect(try tenant(#"["app-b","x"]"#) == "b")
        #expect(bench.failure(changing: ["aud": #""app-c""#]) == .wrongAudience)
        #expect(bench.failure(changing: ["aud": #"["app-a","app-b"]"#]) == .ambiguousTenant)
    }

    @Test("Another tenant's key signs nothing here")
    func foreignKey() throws {
        let other = TokenMint.rsa(keyID: "rsa-2")
        let bench = try Bench(issuers: [
            entry("a", audiences: ["app-a"]), entry("b", audiences: ["app-b"], mint: other),
        ])
        let forB = TokenMint.claims(audience: "app-b")
        #expect(try bench.principal(other.token(claims: forB)).tenant == "b")
        #expect(bench.failure(Bench.mint.token(claims: forB)) == .unknownKey(issuer: 1))
        let forA = TokenMint.claims(audience: "app-a")
        #expect(bench.failure(other.with(keyID: "rsa-1").token(claims: forA)) == .token(.badSignature))
    }

    @Test("A claim tells tenants of one issuer and audience apart")
    func conditions() throws {
        let path = ClaimPath(["org", "id"])
        let bench = try Bench(issuers: [
            entry("a") { $0.condition = ClaimCondition(path: path, values: ["one", "uno"]) },
            entry("b") { $0.condition = ClaimCondition(path: path, values: ["two"]) },
        ])
        func tenant(_ org: String) throws -> TenantID {
            try bench.principal(Bench.mint.token(claims: TokenMint.claims(changes: ["org": org]))).tenant
        }
        #expect(try tenant(#"{"id":"uno"}"#) == "a")
        #expect(try tenant(#"{"id":["two"]}"#) == "b")
        #expect(bench.failure(changing: ["org": #"{"id":"three"}"#]) == .wrongAudience)
        #expect(bench.failure(changing: ["org": #"{"id":["one","two"]}"#]) == .ambiguousTenant)
        #expect(bench.failure(changing: ["org": #""one""#]) == .wrongAudience)
        #expect(bench.failure(changing: [:]) == .wrongAudience)
        let alone = try Bench { $0.condition = ClaimCondition(path: path, values: ["one"]) }
        #expect(alone.failure(changing: [:]) == .wrongAudience)
    }

    @Test("Plans come from a mapped claim, else the default")
    func plans() throws {
        let bench = try Bench {
            $0.planMapping = PlanMapping(
                path: ClaimPath(["realm_access", "roles"]),
                entries: [.init(value: "gold", plan: "pro"), .init(value: "silver", plan: "plus")])
        }
        func plan(_ json: String?) throws -> PlanName {
            try bench.principal(Bench.mint.token(claims: TokenMint.claims(changes: ["realm_access": json]))).plan
        }
        #expect(try plan(#"{"roles":["silver","gold"]}"#) == "pro")
        #expect(try plan(#"{"roles":"silver"}"#) == "plus")
        #expect(try plan(#"{"roles":["Gold",7,null]}"#) == "basic")
        #expect(try plan(#"{"roles":{"gold":true}}"#) == "basic")
        #expect(try plan(#"["gold"]"#) == "basic")
        #expect(try plan(nil) == "basic")
    }
}

@Suite("Configurations that cannot be used")
struct ConfigurationTests {
    @Test("A token that could be two tenants' is found when the configuration is read")
    func ambiguous() {
        let path = ClaimPath(["org"])
        #expect(fault([entry("a"), entry("b")])?.reason == .ambiguous)
        #expect(fault([entry("a"), entry("b")])?.issuers == [0, 1])
        #expect(fault([entry("a"), entry("a")])?.reason == .ambiguous)
        #expect(
            fault([entry("a", audiences: ["x", "y"]), entry("c", audiences: ["z"]), entry("b", audiences: ["y"])])?
                .issuers == [0, 2])
        #expect(
            fault([entry("a"), entry("b") { $0.condition = ClaimCondition(path: path, values: ["1"]) }])?.reason
                == .ambiguous)
        let overlapping = [entry("a"), entry("b")].map { entry in
            var entry = entry
            entry.condition = ClaimCondition(path: path, values: ["1", "2"])
            return entry
        }
        #expect(fault(overlapping)?.reason == .ambiguous)
        #expect(fault([entry("a"), entry("b") { $0.issuer = "https://other.test" }]) == nil)
        #expect(fault([entry("a"), entry("b", audiences: ["Gateway"])]) == nil)
    }

    @Test("Each fault of one entry by its name")
    func faults() {
        let hs = TokenMint.hmac([UInt8](repeating: 1, count: 32)).keySet
        let cases: [(ConfigurationFailure.Reason, (inout IssuerConfiguration) -> Void)] = [
            (.emptyIssuer, { $0.issuer = "" }), (.noAudience, { $0.audiences = [] }),
            (.noAudience, { $0.audiences = ["a", ""] }),
            (.noAlgorithm, { $0.algorithms = [] }), (.mixedAlgorithms, { $0.algorithms = [.rs256, .hs256] }),
            (.noFittingKey, { $0.algorithms = [.hs256] }), (.noFittingKey, { $0.algorithms = [.ps512] }),
            (.noFittingKey, { $0.keys = hs }), (.noType, { $0.types = [] }),
            (.invalidScope, { $0.requiredScope = "a\"b" }),
            (.invalidScope, { $0.requiredScope = "a b" }), (.invalidScope, { $0.requiredScope = "" }),
            (.emptyCondition, { $0.condition = ClaimCondition(path: ClaimPath([]), values: ["a"]) }),
            (.emptyCondition, { $0.condition = ClaimCondition(path: ClaimPath(["a"]), values: []) }),
            (
                .mixedAlgorithms,
                {
                    $0.algorithms = [.hs256]; $0.keys = nil
                }
            ),
        ]
        for (reason, change) in cases {
            #expect(fault([Bench.issuer(change)])?.reason == reason)
            #expect(throws: ConfigurationFailure.self) { try Bench(change) }
        }
        #expect(fault([Bench.issuer()]) == nil)
    }
}
