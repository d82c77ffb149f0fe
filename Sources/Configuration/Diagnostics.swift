/// Collects the problems of one file while it is read; lives for one load on one thread.
final class Diagnostics {
    /// More than this helps nobody, and a hostile file could otherwise grow the list without end.
    static let limit = 100

    let file: String
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var hasErrors = false
    private var isCut = false

    init(file: String) { self.file = file }

    func error(_ position: SourcePosition?, _ message: String, _ advice: String) {
        self.hasErrors = true
        self.add(ConfigurationProblem(.error, file: self.file, position: position, message: message, advice: advice))
    }

    func warning(_ position: SourcePosition?, _ message: String, _ advice: String) {
        self.add(ConfigurationProblem(.warning, file: self.file, position: position, message: message, advice: advice))
    }

    /// The known word somebody probably meant; not looked for once nothing more is shown.
    func nearest(to written: String, among known: some Sequence<String>) -> String? {
        self.isCut ? nil : Suggestion.nearest(to: written, among: known)
    }

    private func add(_ problem: ConfigurationProblem) {
        if self.problems.count < Diagnostics.limit { return self.problems.append(problem) }
        guard !self.isCut else { return }
        self.isCut = true
        self.problems.append(
            ConfigurationProblem(
                .warning, file: self.file, message: "there are more problems than the \(Diagnostics.limit) shown",
                advice: "mend these first"))
    }

    /// Every problem, from the top of the file to its end.
    var sorted: [ConfigurationProblem] {
        let last = (Int.max, Int.max)
        return self.problems.enumerated().sorted { left, right in
            let a = left.element.position.map { ($0.line, $0.column) } ?? last
            let b = right.element.position.map { ($0.line, $0.column) } ?? last
            return (a.0, a.1, left.offset) < (b.0, b.1, right.offset)
        }.map(\.element)
    }
}

/// A value of the file as a message shows it: in backquotes, without control characters, not longer than a line.
func quoted(_ value: String) -> String {
    var shown = ""
    for scalar in value.unicodeScalars.prefix(60) {
        let isPlain = scalar.value >= 0x20 && scalar.value != 0x7F && !scalar.properties.isDefaultIgnorableCodePoint
        let isBreak = (0x80...0x9F).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
        shown.unicodeScalars.append(isPlain && !isBreak ? scalar : "?")
    }
    return value.unicodeScalars.dropFirst(60).isEmpty ? "`\(shown)`" : "`\(shown)…`"
}

/// Names in backquotes with commas between them.
func listed(_ names: some Sequence<String>) -> String {
    names.map { "`\($0)`" }.joined(separator: ", ")
}
