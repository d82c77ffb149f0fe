import Glibc

/// Keeps what the process holds in memory, which are users' texts and keys, out of files.
package enum ProcessHardening {
    /// What could not be had. Constant names, for the operator's log.
    package enum Failure: String, Error, Sendable, CaseIterable {
        case coreLimit = "core_limit"
        case dumpable
    }

    /// Switches core dumps off for the rest of the process's life. To be called before the first secret is read.
    ///
    /// The limit stops files, but the kernel does not heed it when `core_pattern` pipes the dump to a program
    /// (core(5)); a process that is not dumpable has neither, and cannot be traced by other processes of its user.
    package static func apply() throws(Failure) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { throw .coreLimit }
        guard processControl(setDumpable, 0) == 0, !isDumpable else { throw .dumpable }
    }

    /// Whether a crash could still leave the memory's contents behind.
    package static var isDumpable: Bool { processControl(getDumpable, 0) != 0 }

    // PR_GET_DUMPABLE and PR_SET_DUMPABLE of <sys/prctl.h>, which the Glibc module leaves out.
    private static let getDumpable: Int32 = 3
    private static let setDumpable: Int32 = 4

    /// Calls prctl(2), which is variadic in C and so not importable. Its arguments are all of register size, which
    /// Linux's calling conventions pass alike to variadic and to other functions.
    private static func processControl(_ option: Int32, _ argument: UInt) -> Int32 {
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = dlsym(nil, "prctl") else { return -1 }
        return unsafeBitCast(symbol, to: Control.self)(option, argument, 0, 0, 0)
    }
}
