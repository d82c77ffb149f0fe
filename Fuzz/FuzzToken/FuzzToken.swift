import Authentication
import FuzzDriver
import GatewayTypes
import JOSE
import JSON

/// The secret that signs generated tokens, so that the fuzzer reaches the claims behind a good signature.
private let secret = [UInt8](repeating: 7, count: 32)
private let now = WallTime(seconds: 1_750_000_000)

/// Accepts tokens of one issuer, signed with `secret`.
private let authenticator: Authenticator? = {
    guard let key = try? VerificationKey(secret: secret) else { return nil }
    var issuer = IssuerConfiguration(
        issuer: "i", audiences: ["a"], tenant: "t", keys: KeySet([key]), defaultPlan: "p")
    issuer.algorithms = [.hs256]
    issuer.types = [.accessToken, .jwt, .absent]
    issuer.requiresAccessTokenClaims = false
    issuer.maximumAgeSeconds = 1000
    issuer.planMapping = PlanMapping(path: ClaimPath(["p", "q"]), entries: [.init(value: "v", plan: "w")])
    return try? Authenticator(AuthenticationConfiguration(issuers: [issuer]))
}()
private let authenticationCode = MessageAuthenticator(.sha256, secret: secret.span)

/// The first byte says which reader gets the rest.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzToken(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    let rest = Array(input.dropFirst())
    switch input[0] % 7 {
    case 0: readToken(rest)
    case 1: readDocument(rest)
    case 2: _ = try? VerificationKey(jwk: rest.span, allowsSecret: true)
    case 3: _ = try? KeySet(jwks: rest.span, allowsSecrets: true)
    case 4: authenticate(rest)
    case 5: authenticate(Array("Bearer ".utf8) + signedToken(of: rest))
    default: _ = try? VerificationKey(pem: rest.span)
    }
    return 0
}

private func readToken(_ bytes: [UInt8]) {
    guard let token = try? CompactJWS(parsing: bytes.span) else { return }
    _ = try? JWSHeader(parsing: token.header.span)
    readDocument(token.payload)
    // There is one spelling only: what was decoded has to give the same token again.
    let parts = [token.header, token.payload, token.signature].map { Base64URL.encode($0.span) }
    precondition(Array(parts.joined(separator: [UInt8(ascii: ".")])) == bytes, "a second spelling was accepted")
}

private func readDocument(_ bytes: [UInt8]) {
    guard let root = try? JSONDocument(parsing: bytes).root else { return }
    var writer = JSONWriter()
    write(root, to: &writer)
    guard let again = try? JSONDocument(parsing: writer.bytes).root else {
        preconditionFailure("what was written cannot be read")
    }
    precondition(again.kind == root.kind && again.count == root.count, "what was written is another document")
}

private func write(_ value: JSONValue, to writer: inout JSONWriter) {
    switch value.kind {
    case .object:
        writer.beginObject()
        value.forEachMember { name, member in
            writer.name(utf8: name)
            write(member, to: &writer)
        }
        writer.endObject()
    case .array:
        writer.beginArray()
        for element in value.elements { write(element, to: &writer) }
        writer.endArray()
    case .string: _ = value.withString { writer.string(utf8: $0) }
    case .number: if let int = value.int { writer.integer(int) } else { writer.number(value.number ?? 0) }
    case .bool: writer.bool(value.bool ?? false)
    case .null: writer.null()
    }
}

private func authenticate(_ authorization: [UInt8]) {
    let cache = TokenCache(capacity: 2)
    for _ in 0..<2 {
        _ = try? authenticator?.authenticate(
            authorization: authorization.span, fieldCount: 1, queryHasToken: false, cache: cache, now: now)
    }
}

/// A token with a good signature: its header up to the first line break, its payload after it.
private func signedToken(of bytes: [UInt8]) -> [UInt8] {
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let header = parts.count > 1 ? Array(parts[0]) : Array(#"{"alg":"HS256"}"#.utf8)
    let payload = parts.last.map { Array($0) } ?? []
    let signed = Base64URL.encode(header.span) + [UInt8(ascii: ".")] + Base64URL.encode(payload.span)
    let code = authenticationCode?.code(for: signed.span) ?? []
    return signed + [UInt8(ascii: ".")] + Base64URL.encode(code.span)
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzToken_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzToken)
}
