/// What libFuzzer calls with each input; gives 0.
package typealias FuzzTarget = @convention(c) (UnsafePointer<UInt8>, Int) -> CInt

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutableRawPointer, _ target: FuzzTarget
) -> CInt

/// Hands a fuzzer's program over to libFuzzer.
package func runFuzzer(_ count: CInt, _ arguments: OpaquePointer?, _ target: FuzzTarget) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments, target)
}
