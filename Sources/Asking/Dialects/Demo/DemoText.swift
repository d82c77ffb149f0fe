import GatewayTypes

/// What the embedded provider says: the same words for the same text, made from the text alone.
enum DemoText {
    /// The user's own words, from where the prompt holds them.
    static func userText(in prompt: Prompt) -> String {
        let text = String(decoding: prompt.user, as: UTF8.self)
        guard let open = text.firstRange(of: "<user_text>") else { return text }
        let rest = text[open.upperBound...]
        let end = rest.firstRange(of: "</user_text>")?.lowerBound ?? rest.endIndex
        return String(rest[..<end].trimmingPrefix(while: \.isWhitespace))
    }

    static func answer(to task: TaskName, text: String) -> String {
        let sentences = self.sentences(of: text)
        switch task.string {
        case "summarize": return sentences.prefix(2).joined(separator: " ")
        case "key-points": return sentences.prefix(7).map { "- \($0)" }.joined(separator: "\n")
        case "titles": return self.titles(from: text)
        default: return sentences.joined(separator: " ")
        }
    }

    private static func sentences(of text: String) -> [String] {
        let ends: Set<Character> = [".", "!", "?", "؟", "。", "\n"]
        var found: [String] = []
        var current = ""
        for character in text {
            if character != "\n" { current.append(character) }
            guard ends.contains(character) else { continue }
            self.add(current, to: &found)
            current = ""
        }
        self.add(current, to: &found)
        return found.isEmpty ? [text] : found
    }

    private static func add(_ sentence: String, to found: inout [String]) {
        let words = sentence.split(whereSeparator: \.isWhitespace)
        if !words.isEmpty { found.append(words.joined(separator: " ")) }
    }

    private static func titles(from text: String) -> String {
        let words = text.split(whereSeparator: \.isWhitespace).filter { $0.count > 3 } as [Substring]
        let source = words.isEmpty ? [text[...]] : words
        return (1...10).map { number in
            let start = (number * 3) % source.count
            let picked = (0..<3).map { source[(start + $0) % source.count] }
            return "\(number). \(picked.joined(separator: " "))"
        }.joined(separator: "\n")
    }
}
