import EventLoops
import GatewayTesting
import GatewayTypes
import Testing

@Suite("Opening connections", .ownThread)
struct ConnectorTests {
    /// What a connector says; the stream itself is closed.
    static func connect(to host: String, port: UInt16, cancels: Bool = false) async throws -> Box<[ConnectFailure?]> {
        let told = Box([ConnectFailure?]())
        let loop = try Loops.next()
        loop.submit {
            var isInside = true
            let connector = Connector(to: host, port: port, on: loop) { result in
                #expect(!isInside)
                switch result {
                case .success(let stream):
                    stream.close()
                    told.change { $0.append(nil) }
                case .failure(let failure): told.change { $0.append(failure) }
                }
            }
            connector.start(timeout: .seconds(5))
            isInside = false
            if cancels { connector.cancel() }
            // Whoever asks has to hold it.
            let keeper = LoopTimer()
            keeper.action = {
                _ = connector
                keeper.action = nil
            }
            loop.arm(keeper, after: .seconds(6))
        }
        return told
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func aListenerIsReached(host: String) async throws {
        let (listener, port) = try TestSocket.listen()
        let told = try await Self.connect(to: host, port: port)
        try await eventually { told.now == [nil] }
        listener.close()
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1"])
    func aPortWhereNobodyListensRefuses(host: String) async throws {
        let told = try await Self.connect(to: host, port: try TestSocket.freePort())
        try await eventually { told.now == [.refused] }
    }

    @Test func aNameThatIsNoneIsUnknown() async throws {
        let told = try await Self.connect(to: "no such host", port: 1)
        try await eventually { told.now == [.unknownHost] }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func oneThatIsCancelledSaysNothing(host: String) async throws {
        let (listener, port) = try TestSocket.listen()
        let told = try await Self.connect(to: host, port: port, cancels: true)
        try await Task.sleep(for: .milliseconds(300))
        #expect(told.now.isEmpty)
        listener.close()
    }
}
