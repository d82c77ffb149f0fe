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

    /// Why a file cannot be appended to.
    package enum AppendProblem: String, Error, Sendable {
        case noFolder = "there is no such folder"
        case forbiddenFolder = "this account may not write into its folder"
        case forbidden = "this account may not write to it"
        case notAFile = "it is a folder"
    }

    package var environment: [String: String]
    /// Reads at most `maxBytes` of the file with this path.
    package var read: @Sendable (_ path: String, _ maxBytes: Int) -> Result<File, Problem>

    /// Looks whether lines can be appended to the file with this path, which need not be there yet; nil when they can.
    package var appendProblem: @Sendable (_ path: String) -> AppendProblem?

    package init(
        environment: [String: String], read: @escaping @Sendable (String, Int) -> Result<File, Problem>,
        appendProblem: @escaping @Sendable (String) -> AppendProblem? = { _ in nil }
    ) {
        self.environment = environment
        self.read = read
        self.appendProblem = appendProblem
    }

    /// The files of this machine.
    package static func machine(environment: [String: String]) -> ConfigurationSources {
        ConfigurationSources(environment: environment, read: self.readFile, appendProblem: self.problemOfAppending)
    }

    /// Makes nothing: a check leaves no file behind.
    private static func problemOfAppending(to path: String) -> AppendProblem? {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { return .notAFile }
            return access(path, W_OK) == 0 ? nil : .forbidden
        }
        let folder = ConfigurationLoader.directory(of: path)
        guard stat(folder.isEmpty ? "." : folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return errno == EACCES ? .forbiddenFolder : .noFolder
        }
        return access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 ? nil : .forbiddenFolder
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
