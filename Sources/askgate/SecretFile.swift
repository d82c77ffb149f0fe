import Glibc

/// A file with a key, a secret or a token, as a command names it.
struct SecretFile {
    let path: String

    init(_ path: String) { self.path = path }

    /// What it holds, without the line break at its end.
    ///
    /// - Parameter what: what it is said to hold, for the message.
    func bytes(_ what: String) throws(UsageFailure) -> [UInt8] {
        guard let bytes = try self.bytesIfThere(what) else {
            throw UsageFailure("\(what): there is no file \(self.path)")
        }
        return bytes
    }

    /// The same; nil when there is no such file.
    func bytesIfThere(_ what: String) throws(UsageFailure) -> [UInt8]? {
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            let reason = errno == EACCES ? "may not be read by this account" : "cannot be read"
            throw UsageFailure("\(what): \(self.path) \(reason)")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw UsageFailure("\(what): \(self.path) cannot be read") }
        // A secret's file usually ends with a line break that is no part of it; PEM's is left to its reader.
        var text = bytes[..<count]
        if text.last == 0x0A, !text.starts(with: "-----".utf8) {
            text.removeLast()
            if text.last == 0x0D { text.removeLast() }
        }
        guard !text.isEmpty else { throw UsageFailure("\(what): the file \(self.path) is empty") }
        return Array(text)
    }

    /// Says so when every account of the machine may read it.
    func warnIfOpen(_ what: String) {
        var status = stat()
        guard stat(self.path, &status) == 0, status.st_mode & S_IROTH != 0 else { return }
        Terminal.complain(
            "askgate: warning: every account of this machine may read \(what) in \(self.path); run `chmod 600` on it")
    }
}
