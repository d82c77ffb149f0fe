internal import EventLoops
internal import GatewayTypes
internal import HTTPClient
internal import JOSE
internal import JSON

/// One fetch of a key set, its metadata first where that is what is configured.
struct KeySetFlight {
    /// What is remembered from one fetch to the next.
    struct Memory {
        /// Where the metadata said the keys are, and until when that is believed.
        var keysURL: String?
        var keysURLUntil = MonotonicTime(nanoseconds: 0)
        /// Of the answer that brought the set in use.
        var entityTag: String?
    }

    /// How it ended.
    struct Landing {
        var outcome: FetchOutcome
        /// The new set with its text; nil unless fetched.
        var fetched: (keys: KeySet, text: [UInt8])?
        var lifetime = Freshness.usual
        var retryAfter: TimeSpan?
        var memory: Memory
        /// Whether it ended at the metadata.
        var isAboutMetadata = false
    }

    private static let metadataBytes = 65_536
    private static let metadataLifetime = TimeSpan.seconds(86_400)

    let source: RemoteKeySource
    let client: UpstreamClient
    let loop: EventLoop
    var memory: Memory

    /// On the loop.
    consuming func run() async -> Landing {
        var landing: Landing
        switch await self.keysURL() {
        case .success(let url): landing = await self.fetchKeys(from: url)
        case .failure(let failed):
            landing = Landing(outcome: failed.outcome, memory: self.memory)
            landing.isAboutMetadata = true
        }
        // The issuer may have moved its keys.
        if !landing.outcome.isGood { landing.memory.keysURL = nil }
        return landing
    }

    private struct Failed: Error {
        var outcome: FetchOutcome
    }

    private mutating func keysURL() async -> Result<String, Failed> {
        let metadataURL: String
        switch self.source.location {
        case .jwks(let url): return .success(url)
        case .discovery(let url): metadataURL = url
        }
        let now = self.loop.clock.monotonicTime()
        if let known = self.memory.keysURL, now < self.memory.keysURLUntil { return .success(known) }
        let answer: FetchedAnswer
        switch await self.client.get(self.request(metadataURL, limit: Self.metadataBytes), on: self.loop) {
        case .success(let found): answer = found
        case .failure(let failure): return .failure(Failed(outcome: FetchOutcome(failure)))
        }
        guard answer.status == 200 else { return .failure(Failed(outcome: .badStatus)) }
        do throws(Failed) {
            let url = try self.keysURL(in: answer.body, from: metadataURL)
            self.memory.keysURL = url
            self.memory.keysURLUntil = now + Self.metadataLifetime
            return .success(url)
        } catch { return .failure(error) }
    }

    /// Reads the metadata. Its issuer is compared as bytes: a document of another issuer names another's keys.
    private func keysURL(in body: [UInt8], from metadataURL: String) throws(Failed) -> String {
        let root: JSONValue
        do throws(JSONFailure) {
            root = try JSONDocument(parsing: body, limits: JSONLimits(bytes: Self.metadataBytes, depth: 16)).root
        } catch { throw Failed(outcome: .badMetadata) }
        guard let issuer = root["issuer"]?.string, let url = root["jwks_uri"]?.string else {
            throw Failed(outcome: .badMetadata)
        }
        guard ByteString(issuer) == self.source.issuer else { throw Failed(outcome: .issuerMismatch) }
        // Metadata from elsewhere must not turn the gateway on its own machine.
        guard BoundedGet.isAllowed(url), BoundedGet.isLoopback(metadataURL) || !BoundedGet.isLoopback(url) else {
            throw Failed(outcome: .notAllowed)
        }
        return url
    }

    private func request(_ url: String, limit: Int) -> BoundedGet {
        var get = BoundedGet(url: url, limit: limit, timeout: self.source.timeout)
        get.headers = [("Accept", "application/json"), ("User-Agent", "askgate")]
        get.connectTimeout = min(get.connectTimeout, self.source.timeout)
        get.certificateFile = self.source.certificateFile
        get.fields = ["cache-control", "age", "etag", "retry-after"]
        return get
    }

    private func fetchKeys(from url: String) async -> Landing {
        var get = self.request(url, limit: KeySet.maximumBytes)
        if let tag = self.memory.entityTag { get.headers.append(("If-None-Match", tag)) }
        switch await self.client.get(get, on: self.loop) {
        case .failure(let failure): return Landing(outcome: FetchOutcome(failure), memory: self.memory)
        case .success(let answer): return self.judge(answer)
        }
    }

    private func judge(_ answer: FetchedAnswer) -> Landing {
        var landing = Landing(outcome: .badStatus, memory: self.memory)
        landing.lifetime = Freshness.lifetime(
            cacheControl: answer.fields["cache-control"], age: answer.fields["age"],
            least: self.source.leastLifetime)
        if answer.status == 304, self.memory.entityTag != nil {
            landing.outcome = .notModified
        } else if answer.status == 200 {
            self.read(answer, into: &landing)
        } else {
            landing.retryAfter = answer.fields["retry-after"].flatMap { Int64($0) }.map {
                .seconds(min(max($0, 0), 60))
            }
        }
        return landing
    }

    private func read(_ answer: FetchedAnswer, into landing: inout Landing) {
        do throws(KeySet.Failure) {
            let keys = try KeySet(jwks: answer.body.span)
            guard !keys.skipped.contains(where: { $0.reason == .tooManyKeys }) else {
                landing.outcome = .tooManyKeys
                return
            }
            landing.outcome = .fetched
            landing.fetched = (keys, answer.body)
            landing.memory.entityTag = answer.fields["etag"].flatMap(Self.usable)
        } catch {
            switch error {
            case .notJSON: landing.outcome = .notJSON
            case .notAKeySet: landing.outcome = .notAKeySet
            case .noUsableKey: landing.outcome = .noUsableKey
            }
        }
    }

    /// An entity tag that can be sent back as it is (RFC 9110 §8.8.3).
    private static func usable(_ tag: String) -> String? {
        let isTag = (tag.hasPrefix("\"") || tag.hasPrefix("W/\"")) && tag.hasSuffix("\"") && tag.utf8.count <= 256
        return isTag && tag.utf8.allSatisfy { (0x21..<0x7F).contains($0) } ? tag : nil
    }
}
