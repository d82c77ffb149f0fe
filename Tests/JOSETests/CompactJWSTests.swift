import JOSE
import Testing

private func failure(_ token: String) -> TokenFailure? {
    do {
        _ = try CompactJWS(parsing: Array(token.utf8).span)
        return nil
    } catch { return error }
}

private func headerFailure(_ json: String) -> TokenFailure? {
    do {
        _ = try JWSHeader(parsing: Array(json.utf8).span)
        return nil
    } catch { return error }
}

@Suite("The outer form of a token")
struct CompactJWSTests {
    @Test("Three parts are split and decoded")
    func split() throws {
        let token = Array("e30.Zm9v.YmFy".utf8)
        let parsed = try CompactJWS(parsing: token.span)
        #expect(parsed.header == Array("{}".utf8))
        #expect(parsed.payload == Array("foo".utf8))
        #expect(parsed.signature == Array("bar".utf8))
        #expect(parsed.signedByteCount == 8)
    }

    @Test(
        "Other numbers of parts, and parts that must not be empty",
        arguments: [
            "", ".", "..", "e30", "e30.Zm9v", "e30.Zm9v.", ".Zm9v.YmFy", "a.b.c.d", "a.b.c.d.e", "e30.Zm9v.YmFy.",
        ])
    func malformed(token: String) { #expect(failure(token) == .malformed) }

    @Test(
        "Characters of other encodings and of JSON",
        arguments: [
            "e30=.Zm9v.YmFy", "e30.Zm9v.YmFy=", "e30.Zm9v.YmF", "e30.Zm+v.YmFy", "e30.Zm/v.YmFy", "e30.Z m9.YmFy",
            "{}.Zm9v.YmFy",
            "e30.Zm9v.YmFy\n", "\u{FEFF}e30.Zm9v.YmFy", "\"e30.Zm9v.YmFy\"", "e30.Zm9v.Y\0Fy",
        ])
    func invalidEncoding(token: String) { #expect(failure(token) == .invalidEncoding) }

    @Test("Sizes are refused before anything is decoded")
    func sizes() {
        let invalid = "?"
        #expect(failure(String(repeating: ".", count: 60_000)) == .tooLong)
        #expect(failure(String(repeating: "A", count: 8193)) == .tooLong)
        #expect(failure(String(repeating: invalid, count: 2732) + ".A.A") == .tooLong)
        #expect(failure("e30." + String(repeating: invalid, count: 8180) + ".A") == .invalidEncoding)
        #expect(failure("e30." + String(repeating: "A", count: 8000) + ".YmFy") == nil)
    }
}

@Suite("The header of a token")
struct JWSHeaderTests {
    @Test("Each algorithm by its exact name", arguments: Algorithm.allCases)
    func algorithms(algorithm: Algorithm) throws {
        let header = try JWSHeader(parsing: Array(#"{"alg":"\#(algorithm.rawValue)"}"#.utf8).span)
        #expect(header.algorithm == algorithm)
        #expect(header.keyID == nil)
        #expect(header.type == nil)
    }

    @Test(
        "No other spelling names an algorithm",
        arguments: [
            "none", "None", "NONE", "nOnE", "", "rs256", "RS256 ", " RS256", "Rs256", "RS256\\u0000", "RS25", "RS2566",
            "ES521",
            "ES256K", "EDDSA", "ed25519", "dir", "A128GCM", "RS256RS256",
        ])
    func unknownAlgorithm(name: String) { #expect(headerFailure(#"{"alg":"\#(name)"}"#) == .algorithmNotAllowed) }

    @Test(
        "What is no strict object with a textual alg",
        arguments: [
            "", "{}", "[]", "null", "\"RS256\"", #"{"alg":null}"#, #"{"alg":256}"#, #"{"alg":["RS256"]}"#,
            #"{"alg":"none","alg":"RS256"}"#, #"{"alg":"RS256","\u0061lg":"RS256"}"#, #"{"alg":"RS256"} "# + "x",
            #"{"alg":"RS256",}"#, "\u{FEFF}{\"alg\":\"RS256\"}", "{\"alg\":\"RS256\"}\0", #"{"ALG":"RS256"}"#,
            #"{"alg":"RS256","kid":7}"#, #"{"alg":"RS256","kid":["a"]}"#, #"{"alg":"RS256","kid":null}"#,
            #"{"alg":"RS256","typ":1}"#, #"{"alg":"RS256","a":[[[[1]]]]}"#,
            #"{"alg":"RS256","kid":"\#(String(repeating: "k", count: 257))"}"#,
            #"{"alg":"RS256","x":"\#(String(repeating: "k", count: 2048))"}"#,
        ])
    func invalid(json: String) { #expect(headerFailure(json) == .invalidHeader) }

    @Test(
        "Extensions that change what a token means",
        arguments: [
            #""crit":["exp"]"#, #""crit":[]"#, #""crit":null"#, #""b64":false,"crit":["b64"]"#, #""b64":false"#,
            #""b64":true"#,
            #""zip":"DEF""#, #""enc":"A256GCM""#,
        ])
    func unsupported(member: String) { #expect(headerFailure(#"{"alg":"RS256",\#(member)}"#) == .unsupportedHeader) }

    @Test("Keys and addresses in a header are not looked at")
    func embeddedKeys() throws {
        let json = #"{"alg":"ES256","jwk":{"kty":"EC"},"jku":"https://a.test","x5u":7,"x5c":[],"x5t":"x","kid":"k"}"#
        let header = try JWSHeader(parsing: Array(json.utf8).span)
        #expect(header.keyID == Array("k".utf8))
    }

    @Test("An escaped name is the name")
    func escapedName() throws {
        #expect(try JWSHeader(parsing: Array(#"{"\u0061lg":"ES256"}"#.utf8).span).algorithm == .es256)
    }
}
