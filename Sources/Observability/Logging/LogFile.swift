import Glibc

/// An open sink. Used by its writer thread alone.
struct LogFile: ~Copyable {
    /// What became of a batch.
    struct Report: Equatable {
        /// Lines that did not get out whole.
        var linesLost = 0
        var failures = 0
    }

    private enum Kind {
        case regular
        /// A pipe, terminal or socket: may make its writer wait.
        case other
    }

    // PIPE_BUF: after poll(2) said ready a write of this size goes through whole, and not between another's lines.
    private static let pipeWrite = 4096

    private let path: String?
    private var descriptor: Int32
    private var kind: Kind
    /// The last write ended inside a line.
    private var isTorn = false

    init(_ sink: LogSink) throws(LogFailure) {
        switch sink {
        case .none: (self.path, self.descriptor) = (nil, -1)
        case .standardOutput: (self.path, self.descriptor) = (nil, STDOUT_FILENO)
        case .standardError: (self.path, self.descriptor) = (nil, STDERR_FILENO)
        case .file(let path):
            self.path = path
            self.descriptor = openForAppending(path)
            guard self.descriptor >= 0 else { throw .cannotOpen(errno: errno) }
        }
        self.kind = isRegular(self.descriptor) ? .regular : .other
    }

    deinit { if self.path != nil { close(self.descriptor) } }

    /// Opens the path again, as after a rotation. The old file stays in use when that fails.
    ///
    /// - Returns: whether it worked; true for sinks that are no files.
    mutating func reopen() -> Bool {
        guard let path = self.path else { return true }
        let opened = openForAppending(path)
        guard opened >= 0 else { return false }
        close(self.descriptor)
        self.descriptor = opened
        self.kind = isRegular(opened) ? .regular : .other
        self.isTorn = false
        return true
    }

    /// Writes whole lines, waiting for the sink until `isAbandoned` says to give up; it is asked every 50 ms.
    mutating func write(_ lines: [UInt8], until isAbandoned: () -> Bool) -> Report {
        guard self.descriptor >= 0, !lines.isEmpty else { return Report() }
        return lines.withUnsafeBytes { bytes in self.write(bytes, until: isAbandoned) }
    }

    private mutating func write(_ lines: UnsafeRawBufferPointer, until isAbandoned: () -> Bool) -> Report {
        guard !self.isTorn || self.endBrokenLine(until: isAbandoned) else {
            return Report(linesLost: lineCount(lines), failures: 1)
        }
        var rest = lines
        while !rest.isEmpty {
            guard self.isReady(until: isAbandoned) else { return self.giveUp(rest, of: lines, failures: 0) }
            let count = self.put(UnsafeRawBufferPointer(rebasing: rest[..<self.portion(of: rest)]))
            if count < 0 {
                guard errno == EINTR || errno == EAGAIN else { return self.giveUp(rest, of: lines, failures: 1) }
                continue
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return Report()
    }

    /// Lets the next line begin on a line of its own, so that it can be read.
    private mutating func endBrokenLine(until isAbandoned: () -> Bool) -> Bool {
        guard self.isReady(until: isAbandoned),
            self.put(UnsafeRawBufferPointer(start: lineFeed.utf8Start, count: 1)) == 1
        else { return false }
        self.isTorn = false
        return true
    }

    private mutating func giveUp(
        _ rest: UnsafeRawBufferPointer, of lines: UnsafeRawBufferPointer, failures: Int
    ) -> Report {
        let written = lines.count - rest.count
        if written > 0 { self.isTorn = lines[written - 1] != 10 }
        return Report(linesLost: lineCount(rest), failures: failures)
    }

    /// How much to write at once: as many whole lines as a pipe takes together.
    private func portion(of rest: UnsafeRawBufferPointer) -> Int {
        guard case .other = self.kind, rest.count > Self.pipeWrite else { return rest.count }
        return rest[..<Self.pipeWrite].lastIndex(of: 10).map { $0 + 1 } ?? Self.pipeWrite
    }

    /// Waits until something can be written. Files are always ready.
    private func isReady(until isAbandoned: () -> Bool) -> Bool {
        guard case .other = self.kind else { return true }
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            // Any answer but "not yet" ends the wait: the write then says what is wrong.
            if poll(&entry, 1, 50) > 0 { return true }
            if isAbandoned() { return false }
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.write(self.descriptor, bytes.baseAddress, bytes.count)
    }
}

private let lineFeed: StaticString = "\n"

/// Not blocking, so that a named pipe without a reader is an error and not a wait without end.
private func openForAppending(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o640)
}

private func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}

private func lineCount(_ bytes: UnsafeRawBufferPointer) -> Int {
    bytes.reduce(into: 0) { count, byte in count += byte == 10 ? 1 : 0 }
}
