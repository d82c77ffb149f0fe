/// A language that answers' messages are written in.
package enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case persian = "fa"
    case russian = "ru"
    case korean = "ko"

    /// As a `Content-Language` field names it.
    package var tag: StaticString {
        switch self {
        case .english: "en"
        case .persian: "fa"
        case .russian: "ru"
        case .korean: "ko"
        }
    }
}

/// Chooses the language of a message from an `Accept-Language` field (RFC 9110 §12.5.4).
package enum LanguagePreference {
    /// Longest field that is read; a longer one is read up to here.
    private static let sizeLimit = 512

    /// The language the client likes best; English when it names none of ours.
    ///
    /// Languages match by their first subtag: `fa-IR` is Persian. Among equal weights the earlier wins. `*` stands
    /// for every language that is not named, ours first.
    package static func choose(_ field: Span<UInt8>) -> Language {
        var weights = [Int?](repeating: nil, count: Language.allCases.count)
        var wildcard: Int?
        var best: (language: Language, weight: Int)?
        self.forEachRange(field.extracting(first: self.sizeLimit)) { tag, weight in
            if tag.count == 1, tag[0] == UInt8(ascii: "*") {
                wildcard = wildcard ?? weight
            } else if let position = Language.allCases.firstIndex(where: { isPrimary($0.rawValue, of: tag) }) {
                guard weights[position] == nil else { return }
                weights[position] = weight
                if weight > best?.weight ?? 0 { best = (Language.allCases[position], weight) }
            }
        }
        // A wildcard names no language: it counts only where it weighs more than every named one.
        if let wildcard, wildcard > best?.weight ?? 0, let unnamed = weights.firstIndex(of: nil) {
            return Language.allCases[unnamed]
        }
        return best?.language ?? .english
    }

    /// Lends each range and its weight in thousandths. A range whose weight cannot be read is left out.
    private static func forEachRange(_ field: Span<UInt8>, _ body: (Span<UInt8>, Int) -> Void) {
        var start = 0
        while start < field.count {
            var end = start
            while end < field.count, field[end] != UInt8(ascii: ",") { end += 1 }
            var tagEnd = start
            while tagEnd < end, field[tagEnd] != UInt8(ascii: ";") { tagEnd += 1 }
            let tag = field.extracting(trimmed(field, start..<tagEnd))
            let parameter = field.extracting(trimmed(field, min(tagEnd + 1, end)..<end))
            if let weight = weight(parameter) { body(tag, weight) }
            start = end + 1
        }
    }
}

/// `q=` and 0 to 1 with at most three decimals (RFC 9110 §12.4.2), in thousandths; 1000 when there is nothing.
private func weight(_ parameter: Span<UInt8>) -> Int? {
    guard !parameter.isEmpty else { return 1000 }
    guard parameter.count >= 3, parameter.count <= 7, parameter[0] | 0x20 == UInt8(ascii: "q"),
        parameter[1] == UInt8(ascii: "="), let whole = digit(parameter[2]), whole <= 1
    else { return nil }
    var value = whole
    for position in 4..<7 {
        value *= 10
        guard position < parameter.count else { continue }
        guard let next = digit(parameter[position]) else { return nil }
        value += next
    }
    guard parameter.count == 3 || parameter[3] == UInt8(ascii: "."), value <= 1000 else { return nil }
    return value
}

private func digit(_ byte: UInt8) -> Int? { byte >= 48 && byte <= 57 ? Int(byte) - 48 : nil }

/// Whether the tag's first subtag is this one; letters of either case.
private func isPrimary(_ subtag: String, of tag: Span<UInt8>) -> Bool {
    let count = subtag.utf8.count
    guard tag.count == count || (tag.count > count && tag[count] == UInt8(ascii: "-")) else { return false }
    var position = 0
    for byte in subtag.utf8 {
        guard tag[position] | 0x20 == byte else { return false }
        position += 1
    }
    return true
}

/// The range without the blanks at its ends.
private func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, bytes[start] == 32 || bytes[start] == 9 { start += 1 }
    while end > start, bytes[end - 1] == 32 || bytes[end - 1] == 9 { end -= 1 }
    return start..<end
}
