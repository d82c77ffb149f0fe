import GatewayTypes

/// A command line that cannot be carried out; the message says why. Exit status 2.
struct UsageFailure: Error {
    let message: String
    /// The user asked for help instead.
    var isHelp = false

    init(_ message: String) { self.message = message }

    /// The user asked for help.
    static var help: UsageFailure {
        var failure = UsageFailure("help")
        failure.isHelp = true
        return failure
    }
}

/// The words after the command, taken one by one: `--name value`, `--name=value`, flags and plain words.
struct Options {
    private var words: [String]
    /// What they belong to, such as `quota show`.
    private var command: String
    /// The options that were asked for since.
    private var known: [String] = []

    init(_ words: some Sequence<String>, of command: String) {
        self.words = Array(words)
        self.command = command
    }

    /// Goes on with what belongs to a verb alone.
    mutating func enter(_ verb: String) {
        self.command += " \(verb)"
        self.known = []
    }

    /// Takes the value of an option; nil when it is not there.
    mutating func value(_ name: String) throws(UsageFailure) -> String? {
        self.learn(name)
        if let place = self.words.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
            return String(self.words.remove(at: place).dropFirst(name.count + 1))
        }
        guard let place = self.words.firstIndex(of: name) else { return nil }
        guard place + 1 < self.words.count else { throw UsageFailure("\(name) needs a value") }
        self.words.remove(at: place)
        return self.words.remove(at: place)
    }

    private mutating func learn(_ name: String) { if !self.known.contains(name) { self.known.append(name) } }

    /// Takes every value of an option that may be repeated.
    mutating func values(_ name: String) throws(UsageFailure) -> [String] {
        var values: [String] = []
        while let value = try self.value(name) { values.append(value) }
        return values
    }

    mutating func flag(_ name: String) -> Bool {
        self.learn(name)
        guard let place = self.words.firstIndex(of: name) else { return false }
        self.words.remove(at: place)
        return true
    }

    /// Takes a duration such as `90s`, `15m`, `1h` or `30d`.
    mutating func duration(_ name: String) throws(UsageFailure) -> TimeSpan? {
        guard let text = try self.value(name) else { return nil }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count > 0,
            count <= 315_360_000 / unit
        else { throw UsageFailure("\(name) needs a duration such as 90s, 15m, 1h or 30d, of ten years at most") }
        return .seconds(count * unit)
    }

    /// Takes the next plain word.
    mutating func next() -> String? {
        guard let place = self.words.firstIndex(where: { !$0.hasPrefix("-") }) else { return nil }
        return self.words.remove(at: place)
    }

    /// Whether help was asked for, wherever it stands.
    var asksForHelp: Bool { self.words.contains("--help") || self.words.contains("-h") }

    /// Refuses options that nobody asked for; called where what is left may be plain words alone.
    func refuseOthers() throws(UsageFailure) {
        guard let word = self.words.first(where: { $0.hasPrefix("-") }) else { return }
        let name = word.prefix { $0 != "=" }
        // Asked for already: it stands here twice.
        if self.known.contains(where: { $0 == name }) { throw UsageFailure("\(name) stands here twice") }
        let others = self.known.joined(separator: ", ")
        throw UsageFailure(
            "`\(self.command)` does not take \(name)" + (others.isEmpty ? "" : "; it takes \(others)"))
    }

    /// Refuses what nobody took.
    mutating func finish() throws(UsageFailure) {
        if self.asksForHelp { throw .help }
        try self.refuseOthers()
        guard let word = self.words.first else { return }
        throw UsageFailure("\"\(word)\" is not understood here")
    }
}
