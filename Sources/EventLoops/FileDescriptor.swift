import Glibc

/// A descriptor with one owner: closed when the value ends, unless taken.
package struct FileDescriptor: ~Copyable, Sendable {
    /// For system calls while the value lives.
    package let number: Int32

    package init(owning number: Int32) { self.number = number }

    deinit { Glibc.close(self.number) }

    /// Hands the number over; the taker closes it.
    package consuming func take() -> Int32 {
        let number = self.number
        discard self
        return number
    }
}
