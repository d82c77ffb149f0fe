import Glibc

/// A folder that is removed with everything in it when the last reference goes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws(SystemFailure) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/askgate-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFailure(call: "mkdtemp", number: errno) }
        self.path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(self.path) }

    /// Writes a file that its owner alone may read, and gives its path.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws(SystemFailure) -> String {
        let path = "\(self.path)/\(name)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure(call: "open", number: errno) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written)
            }
            guard count > 0 else { throw SystemFailure(call: "write", number: errno) }
            written += count
        }
        return path
    }

    @discardableResult
    package func write(_ name: String, _ text: String) throws(SystemFailure) -> String {
        try self.write(name, Array(text.utf8))
    }

    /// The whole of a file; nil when it cannot be read.
    package static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return Self.readAll(descriptor)
    }

    /// Reads to the end of a file or pipe.
    static func readAll(_ descriptor: Int32, _ deliver: ([UInt8]) -> Void = { _ in }) -> [UInt8] {
        var all: [UInt8] = []
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, size in
                count = Glibc.read(descriptor, buffer.baseAddress, 65536)
                size = max(0, count)
            }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return all }
            all += bytes
            deliver(bytes)
        }
    }

    /// What lies in a folder; nothing when it cannot be read.
    static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    private static func remove(_ path: String) {
        for name in self.names(in: path) where unlink("\(path)/\(name)") != 0 { self.remove("\(path)/\(name)") }
        rmdir(path)
    }
}

/// A system call that failed.
package struct SystemFailure: Error, CustomStringConvertible {
    package var call: String
    package var number: Int32

    package var description: String { "\(self.call): \(String(cString: strerror(self.number)))" }
}
