internal import GatewayTypes
internal import Glibc
internal import JOSE
internal import JSON

/// The last good set of each source on disk, so that a restart while an issuer is down locks nobody out.
///
/// A file is the SHA-256 of what follows, a line break, and JSON with the source, the time and public keys only. It is
/// written beside its place and renamed into it, and read as strictly as an answer from the network.
struct KeySetArchive: Sendable {
    private static let mostBytes = KeySet.maximumBytes + 8192
    let directory: String

    /// A set of this source that was confirmed no longer ago than sets are used.
    func load(_ source: RemoteKeySource, now: WallTime) -> (keys: KeySet, age: TimeSpan)? {
        guard let bytes = Self.read(self.path(of: source)), bytes.count > 65, bytes[64] == 0x0A else { return nil }
        let content = Array(bytes[65...])
        guard Self.hex(SHA256Digest(of: content.span)) == Array(bytes[..<64]) else { return nil }
        let limits = JSONLimits(bytes: Self.mostBytes, depth: 16)
        guard let root = try? JSONDocument(parsing: content, limits: limits).root,
            root["issuer"]?.isString(source.issuer.string) == true, root["source"]?.isString(source.address) == true,
            let confirmed = root["confirmed_at"]?.int, let set = root["set"]?.bytes,
            let keys = try? KeySet(jwks: set.span)
        else { return nil }
        let age = TimeSpan.seconds(max(0, now.seconds &- Int64(confirmed)))
        return age < source.staleFor ? (keys, age) : nil
    }

    /// Keeps a set, or only the time when it was confirmed anew. Failing is no more than a missed precaution.
    ///
    /// - Parameter text: as the issuer published it; nil when it is the one on disk.
    @concurrent
    func save(_ text: [UInt8]?, of source: RemoteKeySource, at now: WallTime) async {
        let path = self.path(of: source)
        guard let set = text.flatMap(Self.publicOnly) ?? Self.savedSet(path) else { return }
        var json = JSONWriter()
        json.beginObject()
        json.name("issuer")
        json.string(source.issuer.string)
        json.name("source")
        json.string(source.address)
        json.name("confirmed_at")
        json.integer(Int(now.seconds))
        json.name("set")
        json.string(utf8: set)
        json.endObject()
        let content = json.bytes
        Self.write(Self.hex(SHA256Digest(of: content.span)) + [0x0A] + content, to: path, in: self.directory)
    }

    private func path(of source: RemoteKeySource) -> String {
        let name = Array("\(source.issuer.string)\n\(source.address)".utf8)
        return self.directory + "/keys-" + String(decoding: Self.hex(SHA256Digest(of: name.span)), as: UTF8.self)
    }

    /// The usable keys with their public members alone: a set may hold others, and secrets among them.
    private static func publicOnly(_ text: [UInt8]) -> [UInt8]? {
        guard let keys = try? KeySet(jwks: text.span),
            let root = try? JSONDocument(parsing: text, limits: JSONLimits(bytes: KeySet.maximumBytes, depth: 16)).root
        else { return nil }
        let skipped = Set(keys.skipped.map(\.index))
        var json = JSONWriter()
        json.beginObject()
        json.name("keys")
        json.beginArray()
        for (index, key) in (root["keys"]?.elements).map({ Array($0) })?.enumerated() ?? [].enumerated()
        where !skipped.contains(index) {
            json.beginObject()
            for name in ["kty", "kid", "alg", "use", "crv", "n", "e", "x", "y"] as [StaticString] {
                guard let value = key[name.description]?.bytes else { continue }
                json.name(name)
                json.string(utf8: value)
            }
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private static func savedSet(_ path: String) -> [UInt8]? {
        guard let bytes = self.read(path), bytes.count > 65 else { return nil }
        return (try? JSONDocument(parsing: Array(bytes[65...])).root)?["set"]?.bytes
    }

    private static func hex(_ digest: SHA256Digest) -> [UInt8] { Hexadecimal.text(of: digest.bytes) }

    // MARK: Files

    /// The whole of a file that nobody but this account can have written.
    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o022 == 0,
            status.st_uid == geteuid(), status.st_size <= off_t(self.mostBytes)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + filled }, $0.count - filled)
            }
            guard count > 0 else { return nil }
            filled += count
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String, in directory: String) {
        mkdir(directory, 0o700)
        let temporary = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            guard count > 0 else { break }
            written += count
        }
        let isWhole = written == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWhole, rename(temporary, path) == 0 else {
            unlink(temporary)
            return
        }
    }
}

extension RemoteKeySource {
    /// The configured address.
    fileprivate var address: String {
        switch self.location {
        case .jwks(let url), .discovery(let url): url
        }
    }
}
