/// A place in a configuration file; both numbers begin at 1, columns count Unicode scalars.
package struct SourcePosition: Hashable, Sendable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// One thing that is wrong in a configuration: where, what, and what to write instead.
///
/// Never holds the value of a secret, nor a value written where a secret was expected.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: Hashable, Sendable {
        case error
        /// Worth a look; the configuration is used all the same.
        case warning
    }

    package var severity: Severity
    /// The file as it was named to the loader.
    package var file: String
    /// Nil when the whole file is meant.
    package var position: SourcePosition?
    package var message: String
    /// What to do about it, as an order: "write …".
    package var advice: String

    package init(
        _ severity: Severity = .error, file: String, position: SourcePosition? = nil, message: String, advice: String
    ) {
        self.severity = severity
        self.file = file
        self.position = position
        self.message = message
        self.advice = advice
    }

    /// `file:line:column: message; advice`.
    package var description: String {
        let place = self.position.map { ":\($0.line):\($0.column)" } ?? ""
        let mark = self.severity == .warning ? "warning: " : ""
        return "\(self.file)\(place): \(mark)\(self.message); \(self.advice)"
    }
}
