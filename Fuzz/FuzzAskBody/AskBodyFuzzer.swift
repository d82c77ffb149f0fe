import FuzzDriver
import GatewayTypes
import Routing

@testable import Gateway

/// Reads the input as the body of an ask by every route, and checks what is found.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzAskBody(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let body = Array(UnsafeBufferPointer(start: data, count: count))
    for form in [WireForm.process, .question, .chat] {
        do throws(AskFailure) {
            check(try form.command(parsing: body, limit: 65_536), form, body)
        } catch {
            check(error, form)
        }
        // A body over the limit is never read.
        if count > 2, (try? form.command(parsing: body, limit: count - 1)) != nil {
            preconditionFailure("over the limit")
        }
    }
    return 0
}

private func check(_ command: AskCommand, _ form: WireForm, _ body: [UInt8]) {
    // Decoding makes no text longer than it was written.
    let length = command.withNames { task, text, tone in
        var length = lengthOfText(text)
        if let task { length += lengthOfText(task) }
        if let tone { length += lengthOfText(tone) }
        return length
    }
    precondition(length.map { $0 <= body.count } == true)
    guard case .chat = form else { return precondition(command.chat == nil && !command.reportsUsage) }
    guard let chat = command.chat else { preconditionFailure("no conversation") }
    precondition(command.task != nil && command.tone == nil)
    precondition(chat.history.reduce(0) { $0 + $1.text.count } <= body.count)
    precondition(chat.history.allSatisfy { lengthOfText($0.text.span) >= 0 })
    precondition(chat.outputCap.map { $0 >= 1 } ?? true)
    precondition(chat.temperature.map { (0...2).contains($0) } ?? true)
    precondition(chat.stop.count <= 4 && chat.stop.allSatisfy { (1...256).contains(lengthOfText($0.span)) })
}

/// A refusal is the caller's fault, and says so in few words of ours.
private func check(_ failure: AskFailure, _ form: WireForm) {
    precondition(failure.code == .invalidRequest || failure.code == .modelNotSelectable)
    precondition((failure.detail?.utf8.count ?? 0) <= 200 && (failure.parameter?.utf8.count ?? 0) <= 60)
}

/// In bytes; what is no UTF-8 is no text.
private func lengthOfText(_ bytes: Span<UInt8>) -> Int {
    precondition(bytes.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) != nil })
    return bytes.count
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzAskBody_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzAskBody)
}
