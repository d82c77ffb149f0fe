import GatewayTypes

/// A command line that cannot be carried out; the message says why. Exit status 2.
struct UsageFailure: Error {
    let message: String
    /// The user asked for help instead.
    var isHelp = false

    init(_ message: String) { self.message = message }
}

/// The words after the command, taken one by one: `--name value`, `--name=value`, flags and plain words.
struct Options {
    private var words: [String]

    init(_ words: some Sequence<String>) { self.words = Array(words) }

    /// Takes the value of an option; nil when it is not there.
    mutating func value(_ name: String) throws(UsageFailure) -> String? {
        if let place = self.words.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
            return String(self.words.remove(at: place).dropFirst(name.count + 1))
        }
        guard let place = self.words.firstIndex(of: name) else { return nil }
        guard place + 1 < self.words.count else { throw UsageFailure("\(name) needs a value") }
        self.words.remove(at: place)
        return self.words.remove(at: place)
    }

    /// Takes every value of an option that may be repeated.
    mutating func values(_ name: String) throws(UsageFailure) -> [String] {
        var values: [String] = []
        while let value = try self.value(name) { values.append(value) }
        return values
    }

    mutating func flag(_ name: String) -> Bool {
        guard let place = self.words.firstIndex(of: name) else { return false }
        self.words.remove(at: place)
        return true
    }

    /// Takes a duration such as `90s`, `15m`, `1h` or `30d`.
    mutating func duration(_ name: String) throws(UsageFailure) -> TimeSpan? {
        guard let text = try self.value(name) else { return nil }
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count > 0,
            count < 1_000_000
        else { throw UsageFailure("\(name) needs a duration such as 90s, 15m, 1h or 30d") }
        return .seconds(count * unit)
    }

    /// Takes the next plain word.
    mutating func next() -> String? {
        guard let place = self.words.firstIndex(where: { !$0.hasPrefix("-") }) else { return nil }
        return self.words.remove(at: place)
    }

    /// Refuses what nobody took.
    mutating func finish() throws(UsageFailure) {
        if self.flag("--help") || self.flag("-h") {
            var failure = UsageFailure("help")
            failure.isHelp = true
            throw failure
        }
        guard let word = self.words.first else { return }
        throw UsageFailure("\"\(word)\" is not understood here")
    }
}
