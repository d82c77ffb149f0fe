import Glibc

/// What a person reads: answers on standard output, complaints on standard error.
enum Terminal {
    static func show(_ text: String) { self.write(text + "\n", to: STDOUT_FILENO) }
    static func complain(_ text: String) { self.write(text + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 || errno == EINTR else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
            }
        }
    }
}
