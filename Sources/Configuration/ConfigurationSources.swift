import Glibc

/// Where a configuration finds what it only refers to: environment variables and files.
///
/// A value, so that tests and fuzzers can load without a disk.
package struct ConfigurationSources: Sendable {
    /// The content of a small file.
    package struct File: Sendable {
        package var bytes: [UInt8]
        /// Any account of the machine may read it.
        package var isReadableByAll: Bool

        package init(bytes: [UInt8], isReadableByAll: Bool = false) {
            self.bytes = bytes
            self.isReadableByAll = isReadableByAll
        }
    }

    /// Why a file gives nothing.
    package enum Problem: String, Error, Sendable {
        case missing = "does not exist"
        case forbidden = "may not be read by this account"
        case notAFile = "is not a regular file"
        case tooLarge = "is too large"
        case unreadable = "cannot be read"
    }

    package var environment: [String: String]
    /// Reads at most `maxBytes` of the file with this path.
    package var read: @Sendable (_ path: String, _ maxBytes: Int) -> Result<File, Problem>

    package init(
        environment: [String: String], read: @escaping @Sendable (String, Int) -> Result<File, Problem>
    ) {
        self.environment = environment
        self.read = read
    }

    /// The files of this machine.
    package static func machine(environment: [String: String]) -> ConfigurationSources {
        ConfigurationSources(environment: environment, read: self.readFile)
    }

    private static func readFile(_ path: String, _ maxBytes: Int) -> Result<File, Problem> {
        // Not blocking, so that opening a pipe without a writer does not hang.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(self.problem(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(.unreadable) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .failure(.notAFile) }
        guard status.st_size <= maxBytes else { return .failure(.tooLarge) }
        guard let bytes = self.bytes(of: descriptor, maxBytes) else { return .failure(.unreadable) }
        guard bytes.count <= maxBytes else { return .failure(.tooLarge) }
        return .success(File(bytes: bytes, isReadableByAll: status.st_mode & S_IROTH != 0))
    }

    private static func problem(_ code: Int32) -> Problem {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .forbidden
        default: .unreadable
        }
    }

    /// At most one chunk more than `maxBytes`; nil when reading fails.
    private static func bytes(of descriptor: Int32, _ maxBytes: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            bytes.append(contentsOf: chunk.prefix(count))
        }
        return bytes
    }
}
