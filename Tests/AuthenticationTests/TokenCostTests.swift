import Authentication
import GatewayTesting
import GatewayTypes
import Glibc
import JOSE
import Testing

/// Processor time of judging tokens; it says something in a release build and with `ASKGATE_BENCH` set, else it only
/// shows that the cache spares the signature.
@Suite("What a token costs")
struct TokenCostTests {
    /// Microseconds of this thread for one call.
    private func cost(_ rounds: Int, _ body: (Int) -> Void) -> Double {
        func used() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
        }
        body(0)
        let start = used()
        for index in 0..<rounds { body(index) }
        return (used() - start) / Double(rounds)
    }

    @Test("A known token, a new one, and the bare signature check")
    func costs() throws {
        let bench = try Bench()
        let tokens = (0..<2000).map { "Bearer " + Bench.mint.token(claims: TokenMint.claims(subject: "user-\($0)")) }
        let bytes = tokens.map { Array($0.utf8) }
        func ask(_ bytes: [UInt8], _ cache: TokenCache) {
            _ = try? bench.authenticator.authenticate(
                authorization: bytes.span, fieldCount: 1, queryHasToken: false, cache: cache, now: Bench.now)
        }
        let times = getenv("ASKGATE_BENCH") == nil ? 1 : 100
        let cache = TokenCache(capacity: 8192)
        for token in bytes { ask(token, cache) }
        let hit = self.cost(2000 * times) { ask(bytes[$0 % bytes.count], cache) }
        let empty = TokenCache(capacity: 0)
        let miss = self.cost(100 * times) { ask(bytes[$0 % bytes.count], empty) }
        let parsed = try bytes.map { try CompactJWS(parsing: $0.span.extracting(7..<$0.count)) }
        let signed = zip(bytes, parsed).map { Array($0[7..<7 + $1.signedByteCount]) }
        let signatures = parsed.map(\.signature)
        let verifier = try Bench.mint.keySet.verifier(keyID: Array("rsa-1".utf8), algorithm: .rs256)
        let bare = self.cost(100 * times) { index in
            let (text, signature) = (signed[index % signed.count], signatures[index % signed.count])
            _ = verifier.verify(text.span, signature: signature.span)
        }
        #expect(hit < miss)
        print("hit \(hit) µs, miss \(miss) µs, bare RS256 \(bare) µs, miss/bare \(miss / bare)")
    }
}
