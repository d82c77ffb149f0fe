import GatewayTesting
import GatewayTypes
import Glibc
import JOSE
import Testing

@testable import Authentication

private let old = TokenMint.rsa(keyID: "old")
private let new = TokenMint.ec(keyID: "new")

@Suite("The last good keys on disk", .timeLimit(.minutes(2)))
struct KeyArchiveTests {
    private func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Lets one process see a good day, and gives the file that it left.
    private func goodDay(_ folder: TemporaryFolder, _ issuer: MiniIssuer) async throws -> String {
        let state = folder.path + "/state"
        try await FetchBench.run(FetchBench.source(issuer), stateDirectory: state) { bench in
            try await bench.becomeReady()
            #expect(await eventually { self.names(in: state).contains { $0.utf8.count == 69 } })
        }
        return state + "/" + (try #require(self.names(in: state).first))
    }

    @Test("A restart while the issuer is down serves, until the issuer is back with other keys")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let issuer = try MiniIssuer([old])
        _ = try await self.goodDay(folder, issuer)
        let source = FetchBench.source(issuer)
        issuer.stop()
        try await FetchBench.run(source, stateDirectory: folder.path + "/state") { bench in
            #expect(bench.authenticator.isReady)
            #expect(bench.look(bench.token(old)) == nil)
            let back = try MiniIssuer([new], on: issuer.port)
            #expect(await eventually { bench.look(bench.token(new)) == nil })
            #expect(bench.look(bench.token(old)) == .unknownKey(issuer: 0))
            back.stop()
        }
    }

    @Test("Nobody else may read the file, and it holds public members only")
    func content() async throws {
        let folder = try TemporaryFolder()
        let issuer = try MiniIssuer()
        let leaked = new.with(keyID: "leaked").jwk.replacing("\"kty\"", with: "\"d\":\"Y2FuYXJ5LXNlY3JldA\",\"kty\"")
        let noted = old.jwk.replacing("\"kty\"", with: "\"note\":\"canary-note\",\"kty\"")
        issuer.answer("/keys", .document(#"{"keys":[\#(leaked),\#(noted)],"extra":"canary-extra"}"#))
        let path = try await self.goodDay(folder, issuer)
        let text = String(decoding: try #require(TemporaryFolder.read(path)), as: UTF8.self)
        for word in ["Y2FuYXJ5LXNlY3JldA", "leaked", "canary"] { #expect(!text.contains(word)) }
        #expect(text.contains("old"))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test(
        "A file that is damaged, too old, another source's or writable for others is not believed",
        arguments: ["cut", "changed", "empty", "open to others", "renamed", "old"])
    func notBelieved(kind: String) async throws {
        let folder = try TemporaryFolder()
        let issuer = try MiniIssuer([old])
        let path = try await self.goodDay(folder, issuer)
        let source = FetchBench.source(issuer)
        let bytes = try #require(TemporaryFolder.read(path))
        let archive = KeySetArchive(directory: folder.path + "/state")
        let now = WallTime(seconds: Int64(Stopwatch.wallSeconds()))
        let name = "state/" + String(try #require(path.split(separator: "/").last))
        #expect(archive.load(source, now: now)?.keys.count == 1)
        var asked = source
        var time = now
        switch kind {
        case "cut": try folder.write(name, Array(bytes.dropLast(10)))
        case "changed":
            let text = String(decoding: bytes, as: UTF8.self)
            try folder.write(name, text.replacing("AQAB", with: "AQAD"))
        case "empty": try folder.write(name, [])
        case "open to others": chmod(path, 0o622)
        case "renamed":
            asked.location = .jwks(url: issuer.url + "/other")
            #expect(archive.load(asked, now: now) == nil)
            // Another source's file under this one's name.
            asked.issuer = "https://other.test"
            await archive.save(Array(new.jwks.utf8), of: asked, at: now)
            let others = self.names(in: folder.path + "/state").filter { !path.hasSuffix($0) }
            let other = try #require(TemporaryFolder.read(folder.path + "/state/" + others[0]))
            try folder.write(name, other)
            asked = source
        default: time = now + source.staleFor
        }
        #expect(archive.load(asked, now: time) == nil)
    }

    @Test("A confirmation makes a kept set young again")
    func confirmed() async throws {
        let folder = try TemporaryFolder()
        let issuer = try MiniIssuer([old])
        _ = try await self.goodDay(folder, issuer)
        let source = FetchBench.source(issuer)
        let archive = KeySetArchive(directory: folder.path + "/state")
        let later = WallTime(seconds: Int64(Stopwatch.wallSeconds()) + 80_000)
        await archive.save(nil, of: source, at: later)
        let found = try #require(archive.load(source, now: later + .seconds(10)))
        #expect(found.age == .seconds(10))
        #expect(found.keys.contains(keyID: Array("old".utf8)))
    }

    @Test("A folder that cannot be written costs nothing but the precaution")
    func unwritable() async throws {
        let issuer = try MiniIssuer([old])
        try await FetchBench.run(FetchBench.source(issuer), stateDirectory: "/proc/none/state") { bench in
            try await bench.becomeReady()
            #expect(bench.look(bench.token(old)) == nil)
        }
    }
}
