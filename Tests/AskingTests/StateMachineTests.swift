import GatewayTypes
import Testing

@testable import Asking

@Suite("State machine of an ask")
struct StateMachineTests {
    private static let usage = TokenUsage(input: 1, output: 2, source: .provider)

    private func text(_ machine: inout AskStateMachine, _ text: String) -> Bool {
        machine.text(bytes: text.utf8.count) { text.allSatisfy(\.isWhitespace) }
    }

    @Test func `An answer starts once and ends once`() {
        var machine = AskStateMachine()
        let starts = [machine.started(), machine.started()]
        #expect(starts == [true, false])
        let isHandedOn = self.text(&machine, "a")
        #expect(isHandedOn)
        machine.finished(.stop)
        machine.reported(Self.usage)
        let end = machine.end(nil, attempts: 1)
        #expect(end?.failure == nil && end?.finish == .stop && end?.usage == Self.usage && end?.attempts == 1)
        let second = machine.end(.incomplete, attempts: 1)
        #expect(second == nil)
        let late = [machine.started(), self.text(&machine, "b")]
        #expect(late == [false, false])
    }

    @Test func `What comes behind the end changes nothing`() {
        var machine = AskStateMachine()
        _ = machine.started()
        _ = self.text(&machine, "a")
        _ = machine.end(nil, attempts: 1)
        machine.finished(.length)
        machine.reported(Self.usage)
        #expect(machine.finish == nil && machine.usage == nil && machine.hasEnded && !machine.isComplete)
    }

    @Test func `Text before the start, or none, is not handed on`() {
        var machine = AskStateMachine()
        let early = self.text(&machine, "a")
        _ = machine.started()
        let empty = self.text(&machine, "")
        #expect(!early && !empty)
        #expect(machine.textBytes == 0)
    }

    @Test(
        arguments: [
            ([], nil, nil, false, .emptyAnswer), ([" ", "\n"], nil, FinishReason.stop, false, .emptyAnswer),
            (["a"], nil, .stop, false, nil), ([], nil, .contentFilter, false, nil), ([], .tls, nil, false, .tls),
            (["a"], .incomplete, nil, false, .incomplete), ([], nil, nil, true, nil),
            ([], nil, .length, false, .emptyAnswer),
            ([], .incomplete, .contentFilter, false, .incomplete), ([" ", "a"], nil, nil, false, nil),
        ] as [([String], ProviderFailure?, FinishReason?, Bool, ProviderFailure?)])
    func `An end without a word is a failure, unless there is a reason`(
        words: [String], failure: ProviderFailure?, finish: FinishReason?, cancelled: Bool, told: ProviderFailure?
    ) {
        var machine = AskStateMachine()
        for word in words {
            _ = machine.started()
            _ = self.text(&machine, word)
        }
        if let finish { machine.finished(finish) }
        let end = machine.end(failure, cancelled: cancelled, attempts: 1)
        #expect(end?.failure == told && end?.wasCancelled == cancelled && end?.finish == finish)
    }

    @Test func `Usage is the last word`() {
        var machine = AskStateMachine()
        machine.reported(Self.usage)
        machine.reported(TokenUsage(input: 5, output: 6, source: .provider))
        let end = machine.end(.incomplete, attempts: 1)
        #expect(end?.usage?.total == 11)
    }
}
