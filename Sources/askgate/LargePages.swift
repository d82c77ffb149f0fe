import Glibc

/// Large pages behind what `malloc` gives out.
///
/// A thousand open streams are touched one after the other, each far apart in memory; a tenth of the time of such an
/// event went to looking pages up. glibc asks the kernel for large pages when a tunable says so, and reads tunables only
/// while it starts.
enum LargePages {
    private static let variable = "GLIBC_TUNABLES"
    private static let tunable = "glibc.malloc.hugetlb=1"

    /// Starts the program anew, in the same process, with the tunable set. Returns where the variable is set already,
    /// whatever it says, and where that start fails.
    static func prefer() {
        guard getenv(self.variable) == nil else { return }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard readlink("/proc/self/exe", &path, path.count - 1) > 0 else { return }
        setenv(self.variable, self.tunable, 1)
        execv(path, CommandLine.unsafeArgv)
    }
}
