import CUV

/// A system call that did not work: its name and the platform's error number.
package struct SystemFailure: Error, Sendable, CustomStringConvertible {
    package let call: StaticString
    /// An `errno` value, positive.
    package let code: Int32

    package init(_ call: StaticString, code: Int32) {
        self.call = call
        self.code = code
    }

    /// From a libuv result, which is a negated `errno`.
    init(_ call: StaticString, uv result: Int32) { self.init(call, code: -result) }

    package var description: String { "\(self.call): \(self.words)" }

    /// The platform's words for the error number alone.
    package var words: String { uv_strerror(-self.code).map { String(cString: $0) } ?? "error \(self.code)" }
}
