import AdminAPI
import Configuration
import EventLoops
import Gateway
import GatewayTypes
import Glibc
import HTTPServer
import Observability

/// Hears the process's signals: reloads on SIGHUP, ends in good order on SIGTERM and SIGINT, at once on a second one.
struct Supervisor {
    private enum Event: Sendable {
        case reload
        case stop
    }

    let process: GatewayProcess

    func superviseUntilStopped() async {
        let (events, send) = AsyncStream<Event>.makeStream()
        let loop = self.process.group.loops[0]
        let sources = [
            SignalSource(SIGHUP, on: loop) { send.yield(.reload) },
            SignalSource(SIGTERM, on: loop) { send.yield(.stop) },
            SignalSource(SIGINT, on: loop) { send.yield(.stop) },
        ]
        for await event in events {
            guard event == .reload else { break }
            self.process.reloader.reload()
        }
        await self.drain(events)
        for source in sources { source.close() }
    }

    // MARK: Drain

    private func drain(_ events: AsyncStream<Event>) async {
        let settings = self.process.document.http
        self.process.readiness.enter(.draining)
        self.process.operations.info("draining", [.int("connections", self.process.api.openConnections)])
        let hurry = Hurry()
        await withTaskGroup { tasks in
            tasks.addTask { for await event in events where event == .stop { hurry.set() } }
            await Self.wait(settings.drainDelay, unless: hurry)
            let end = SystemClock().monotonicTime() + settings.drainDeadline
            await self.process.api.drain(
                until: { hurry.isSet || SystemClock().monotonicTime() >= end }, pause: { await Self.pause() })
            // Behind the api's: others come for the questions that were asked here until the last of them has ended.
            if let hop = self.process.hop {
                await hop.drain(
                    until: { hurry.isSet || SystemClock().monotonicTime() >= end }, pause: { await Self.pause() })
                await self.process.store.leave()
            }
            if let admin = self.process.admin { await admin.drain(until: { true }, pause: { await Self.pause() }) }
            tasks.cancelAll()
        }
        self.process.operations.info("stopped")
    }

    private static func wait(_ span: TimeSpan, unless hurry: Hurry) async {
        let end = SystemClock().monotonicTime() + span
        while !hurry.isSet, SystemClock().monotonicTime() < end { await self.pause() }
    }

    private static func pause() async { try? await Task.sleep(for: .milliseconds(25)) }
}
