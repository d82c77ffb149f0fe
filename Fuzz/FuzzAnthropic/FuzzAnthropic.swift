import DialectFuzzing
import FuzzDriver

/// Reads the input as every kind of answer of the anthropic dialect.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzAnthropic(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    FuzzedDialect.anthropic.check(UnsafeBufferPointer(start: data, count: count))
    return 0
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzAnthropic_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzAnthropic)
}
