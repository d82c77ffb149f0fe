import Configuration
import EventLoops
import Glibc
import Observability

/// Why the gateway did not start, in words for the operator.
struct StartFailure: Error {
    let text: String
    init(_ text: String) { self.text = text }

    /// A listener that could not be bound.
    ///
    /// - Parameter key: its key in the configuration.
    init(listener key: String, _ address: ListenerAddress, _ failure: SystemFailure, isDevelopment: Bool) {
        let reason =
            switch failure.code {
            case EADDRINUSE where isDevelopment:
                "\(address) is in use by another program; stop it, or run beside it with a port of your own: "
                    + "`askgate serve --development --port 18080`"
            case EADDRINUSE: "\(address) is in use by another program; stop it or write another port"
            case EADDRNOTAVAIL:
                "this machine has no address \(address.address); write one of its own, or 0.0.0.0 for all of them"
            case EACCES: "this account may not listen on port \(address.port); write one above 1023"
            default: "cannot listen on \(address) (\(failure))"
            }
        self.init("listeners.\(key): \(reason)")
    }

    /// A log that could not begin.
    ///
    /// - Parameters:
    ///   - key: of the configuration.
    ///   - sink: where it was to go.
    init(log key: String, _ sink: LogSettings.Sink, _ failure: LogFailure) {
        switch (failure, sink) {
        case (.cannotOpen(let number), .file(let path)):
            self.init("\(key): cannot open \(path): \(Self.words(for: number))")
        case (.cannotOpen(let number), _): self.init("\(key): cannot be opened: \(Self.words(for: number))")
        case (.cannotStartThread(let number), _):
            self.init("\(key): its thread cannot start: \(Self.words(for: number))")
        }
    }

    private static func words(for number: Int32) -> String {
        switch number {
        case ENOENT, ENOTDIR: "no such folder"
        case EACCES, EPERM: "this account may not write there"
        case EISDIR: "it is a folder"
        case ENXIO: "it is a pipe that nobody reads"
        case EROFS: "the file system is read-only"
        default: SystemFailure("open", code: number).words
        }
    }
}
