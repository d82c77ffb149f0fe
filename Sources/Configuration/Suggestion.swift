/// Finds the word somebody probably meant.
enum Suggestion {
    /// The known word nearest to what was written, when it is near enough to be a slip.
    static func nearest(to written: String, among known: some Sequence<String>) -> String? {
        let word = Array(written.lowercased().utf8)
        guard !word.isEmpty, word.count <= 64 else { return nil }
        var best: (distance: Int, word: String)?
        for candidate in known {
            let distance = self.distance(word, Array(candidate.lowercased().utf8))
            if distance <= max(1, max(word.count, candidate.utf8.count) / 3), distance < best?.distance ?? .max {
                best = (distance, candidate)
            }
        }
        return best?.word
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var before: [Int] = []
        var above = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            current.reserveCapacity(right.count + 1)
            for column in 1...right.count {
                let same = left[row - 1] == right[column - 1]
                var cost = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (same ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    cost = min(cost, before[column - 2] + 1)
                }
                current.append(cost)
            }
            before = above
            above = current
        }
        return above[right.count]
    }
}
