import EventLoops
import GatewayTesting
import GatewayTypes
import HTTPClient
import Testing

@Suite("Cancelling and pausing calls", .ownThread, .overBothTransports)
struct FlowTests {
    /// More than the kernel holds for a reader that does not read.
    private static let flood = 64_000_000

    private static func endless() throws -> FakeProvider {
        try FakeProvider { _, _ in .events([.send("data: 1\n\n"), .hold(milliseconds: 60_000)]) }
    }

    private static func flooding() throws -> FakeProvider {
        try FakeProvider { call, _ in
            call.bodyText == "small" ? .answer() : .events([.flood(Array(0...255), times: Self.flood / 256)])
        }
    }

    /// Waits until the provider sends no more; the bytes it sent.
    private func settled(_ call: ProviderCall) -> Int {
        var sent = -1
        while sent != call.bytesSent {
            sent = call.bytesSent
            Stopwatch.sleep(milliseconds: 150)
        }
        return sent
    }

    @Test func `A cancelled call closes its connection and tells nothing more`() async throws {
        let provider = try FakeProvider { _, _ in .body("{}", delay: 60_000) }
        try await withUpstream { upstream in
            let call = try await upstream.start(provider.endpoint())
            let seen = try #require(provider.rest.waitForCall())
            try await upstream.run { _ in
                call.call?.cancel()
                call.call?.cancel()
            }
            #expect(seen.waitForEnd() == .peerClosed)
            #expect(call.told.ends.isEmpty && call.told.heads.isEmpty)
        }
    }

    @Test func `A call may be cancelled before its connection stands`() async throws {
        let provider = try FakeProvider()
        try await withUpstream { upstream in
            for _ in 0..<20 {
                let call = try await upstream.start(provider.endpoint(), then: { $0.call?.cancel() })
                #expect(call.told.ends.isEmpty)
            }
            #expect(try await upstream.perform(provider.endpoint()).isWhole)
        }
    }

    @Test(arguments: [true, false])
    func `A call may be cancelled from what it tells`(inHead: Bool) async throws {
        let provider = try Self.endless()
        try await withUpstream { upstream in
            let call = try await upstream.start(provider.endpoint()) { test in
                if inHead {
                    test.onHead = { $0.call?.cancel() }
                } else {
                    test.onBytes = {
                        $0.call?.cancel()
                        return true
                    }
                }
            }
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
            #expect(call.told.heads.count == 1 && call.told.ends.isEmpty)
            #expect(inHead == call.told.bytes.isEmpty)
        }
    }

    @Test func `A receiver that refuses a piece ends the call`() async throws {
        let provider = try Self.endless()
        try await withUpstream { upstream in
            let call = try await upstream.start(provider.endpoint()) { $0.onBytes = { _ in false } }
            #expect(call.ends() && call.told.ends == [.cancelled])
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }

    @Test func `A call may cancel another from what it tells`() async throws {
        let gate = Gate()
        let provider = try FakeProvider { call, _ in
            call.bodyText == "victim"
                ? .events([.send("data: 1\n\n"), .hold(milliseconds: 60_000)])
                : .events([.wait(gate), .send("data: 2\n\n")])
        }
        try await withUpstream { upstream in
            defer { gate.open() }
            let victims = Box<[TestCall]>([])
            for _ in 0..<3 {
                let victim = try await upstream.start(provider.endpoint(), "victim")
                victims.change { $0.append(victim) }
            }
            let call = try await upstream.start(provider.endpoint(), "other") { test in
                test.onBytes = { _ in
                    for victim in victims.now { victim.call?.cancel() }
                    return true
                }
            }
            #expect(Stopwatch.wait(upTo: .seconds(10)) { victims.now.allSatisfy { $0.told.count > 0 } })
            gate.open()
            #expect(call.ends() && call.told.isWhole)
            for seen in provider.calls where seen.bodyText == "victim" { #expect(seen.waitForEnd() == .peerClosed) }
            #expect(victims.now.allSatisfy { $0.told.ends.isEmpty })
            // Handles that were given back can be used.
            for _ in 0..<6 { #expect(try await upstream.perform(provider.endpoint(), "other").isWhole) }
        }
    }

    @Test func `A paused call stops the provider, and loses nothing`() async throws {
        let provider = try Self.flooding()
        try await withUpstream { upstream in
            let call = try await upstream.start(provider.endpoint(), keeps: false) { test in
                test.onBytes = {
                    if $0.told.count < 100_000 { $0.call?.setPaused(true) }
                    return true
                }
            }
            let seen = try #require(provider.rest.waitForCall())
            let sent = self.settled(seen)
            #expect(sent < Self.flood)
            #expect(call.told.count < 200_000)
            try await upstream.run { _ in
                call.onBytes = nil
                call.call?.setPaused(false)
            }
            #expect(call.ends(within: .seconds(60)) && call.told.isWhole)
            #expect(call.told.count == Self.flood)
        }
    }

    @Test func `Pausing and going on again and again keeps every byte in its place`() async throws {
        let text = (0..<20_000).map { "line \($0)\n" }.joined()
        let provider = try FakeProvider { _, _ in .events([.split(Array(text.utf8), every: 3000)]) }
        try await withUpstream { upstream in
            for stream in [true, false] {
                let call = try await upstream.start(provider.endpoint(), stream: stream) { test in
                    test.onBytes = {
                        $0.call?.setPaused(true)
                        return true
                    }
                }
                let ended = Stopwatch.wait(upTo: .seconds(20)) { () -> Bool in
                    upstream.loop.submit { call.call?.setPaused(false) }
                    return !call.told.ends.isEmpty
                }
                #expect(ended && call.told.isWhole)
                #expect(call.told.text == text)
            }
        }
    }

    @Test func `A receiver may have had enough while it is let go on`() async throws {
        let provider = try Self.flooding()
        try await withUpstream { upstream in
            for cancels in [true, false] {
                let call = try await upstream.start(provider.endpoint(), keeps: false) { test in
                    test.onBytes = {
                        $0.call?.setPaused(true)
                        return true
                    }
                }
                let seen = try #require(provider.rest.waitForCall(cancels ? 1 : 2))
                #expect(Stopwatch.wait(upTo: .seconds(10)) { call.told.count > 0 })
                try await upstream.run { _ in
                    call.onBytes = {
                        if cancels { $0.call?.cancel() }
                        return false
                    }
                    call.call?.setPaused(false)
                }
                #expect(seen.waitForEnd() == .peerClosed)
                if cancels {
                    #expect(call.told.ends.isEmpty)
                } else {
                    #expect(call.ends() && call.told.ends == [.cancelled])
                }
            }
        }
    }

    @Test func `A call cancelled while paused leaves nothing to the next`() async throws {
        let provider = try Self.flooding()
        try await withUpstream { upstream in
            for number in 1...5 {
                let call = try await upstream.start(provider.endpoint(), keeps: false) { test in
                    test.onBytes = {
                        $0.call?.setPaused(true)
                        return true
                    }
                }
                #expect(Stopwatch.wait(upTo: .seconds(10)) { call.told.count > 0 })
                try await upstream.run { _ in call.call?.cancel() }
                #expect(provider.rest.waitForCall(number * 2 - 1)?.waitForEnd() == .peerClosed)
                let told = try await upstream.perform(provider.endpoint(), "small", stream: true)
                #expect(told.isWhole && told.text == OpenAIShapes.completion("ok"))
            }
        }
    }

    @Test func `The deadline holds for a paused call`() async throws {
        let provider = try Self.flooding()
        try await withUpstream { upstream in
            let call = try await upstream.start(provider.endpoint(), keeps: false, deadline: .seconds(1)) {
                test in
                test.onBytes = {
                    $0.call?.setPaused(true)
                    return true
                }
            }
            #expect(call.ends() && call.told.ends == [.timeout])
            #expect(provider.rest.waitForCall()?.waitForEnd() == .peerClosed)
        }
    }
}
