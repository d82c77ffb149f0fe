import Glibc

/// What the system says of this process.
struct ProcessSample: Sendable {
    var cpuMicroseconds: Int64
    var residentBytes: Int64
    var openFiles: Int64
    var fileLimit: Int64

    /// Nil where the system does not say.
    static func read() -> ProcessSample? {
        var usage = rusage()
        var limit = rlimit()
        guard getrusage(__rusage_who_t(0), &usage) == 0,
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            let resident = residentPages(), let files = openFileCount()
        else { return nil }
        return ProcessSample(
            cpuMicroseconds: microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
            residentBytes: resident &* Int64(sysconf(Int32(_SC_PAGESIZE))), openFiles: files,
            fileLimit: Int64(clamping: limit.rlim_cur))
    }
}

private func microseconds(_ time: timeval) -> Int64 { Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_usec) }

/// The second number of `/proc/self/statm`.
private func residentPages() -> Int64? {
    let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
        let count = read(file, buffer.baseAddress, buffer.count)
        guard count > 0 else { return nil }
        let fields = UnsafeRawBufferPointer(rebasing: buffer[..<count]).split(separator: UInt8(ascii: " "))
        guard fields.count > 1 else { return nil }
        return Int64(String(decoding: fields[1], as: UTF8.self))
    }
}

/// Entries of `/proc/self/fd`, less the two names of folders and the one that this reading opens.
private func openFileCount() -> Int64? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count: Int64 = -3
    while readdir(folder) != nil { count += 1 }
    return count
}
