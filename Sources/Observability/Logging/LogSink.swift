/// Where log lines go.
package enum LogSink: Hashable, Sendable {
    case none
    case standardOutput
    case standardError
    /// Appended to, made when missing (mode 0640), and opened anew on `reopen()`.
    case file(path: String)
}

/// Why a log could not begin.
package enum LogFailure: Error, Hashable, Sendable {
    /// The file cannot be opened for appending; with the system's error number.
    case cannotOpen(errno: Int32)
    case cannotStartThread(errno: Int32)
}
