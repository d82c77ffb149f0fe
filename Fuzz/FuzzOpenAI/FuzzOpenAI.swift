import DialectFuzzing
import FuzzDriver

/// Reads the input as every kind of answer of the openai dialect.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzOpenAI(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    FuzzedDialect.openAI.check(UnsafeBufferPointer(start: data, count: count))
    return 0
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzOpenAI_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzOpenAI)
}
