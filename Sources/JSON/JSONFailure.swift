/// Why a document was refused, and where; never what stood there.
package struct JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with the document.
    package enum Reason: String, Sendable, CaseIterable {
        /// Longer than the caller's cap.
        case tooLarge = "too_large"
        /// Arrays and objects stand deeper in each other than the caller's cap.
        case tooDeep = "too_deep"
        /// A raw NUL byte, or an escaped one in a member's name.
        case nulByte = "nul_byte"
        case invalidUTF8 = "invalid_utf8"
        /// The document stops in the middle of a value, or holds none.
        case unexpectedEnd = "unexpected_end"
        /// Something follows the value.
        case trailingBytes = "trailing_bytes"
        /// Not JSON in any other way.
        case syntax
        /// An object names a member twice; readers would disagree about which one counts.
        case duplicateMember = "duplicate_member"
        /// A number that no finite `Double` can hold.
        case numberOutOfRange = "number_out_of_range"
        case outOfMemory = "out_of_memory"
    }

    /// What is wrong.
    package var reason: Reason
    /// Bytes before the place of the fault.
    package var position: Int
    /// The line of the fault, counted from 1.
    package var line: Int

    /// Bounded name for metrics.
    package var metricLabel: String { self.reason.rawValue }

    /// A constant text with line and byte position, fit for a 400 answer.
    package var description: String {
        "\(self.reason.explanation) (line \(self.line), byte \(self.position))"
    }
}

extension JSONFailure.Reason {
    /// One constant phrase for people.
    package var explanation: String {
        switch self {
        case .tooLarge: "the document is too large"
        case .tooDeep: "the document is nested too deeply"
        case .nulByte: "a NUL character is not allowed here"
        case .invalidUTF8: "the document is not valid UTF-8"
        case .unexpectedEnd: "the document ends too early"
        case .trailingBytes: "something follows the end of the document"
        case .syntax: "the document is not valid JSON"
        case .duplicateMember: "a member is named twice in one object"
        case .numberOutOfRange: "a number is out of range"
        case .outOfMemory: "there is no memory for the document"
        }
    }
}
