import Foundation
import GatewayTypes
import Synchronization
import Testing

@testable import Observability

private func record(_ number: Int = 0) -> AccessRecord {
    var record = AccessRecord(
        time: WallTime(seconds: 1_800_000_000), requestID: RequestID(high: 0, low: UInt64(number)),
        outcome: .answered, total: .milliseconds(5))
    record.attempts = number
    return record
}

/// A pipe whose writing end has a path.
private final class Pipe {
    let path: String
    let reading: Int32

    convenience init(in folder: TemporaryFolder) throws {
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        try self.init(reading: folder.file("pipe"))
    }

    /// Opens a pipe that is there, as when its reader comes back.
    init(reading path: String) throws {
        self.path = path
        self.reading = open(self.path, O_RDONLY | O_NONBLOCK)
        try #require(self.reading >= 0)
    }

    func readAll() -> [UInt8] {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(self.reading, &chunk, chunk.count)
            guard count > 0 else { return all }
            all += chunk[..<count]
        }
    }

    deinit { close(self.reading) }
}

@Suite("Access log")
struct AccessLogTests {
    private let registry = MetricsRegistry(loops: 1, version: "test", startTime: WallTime(seconds: 0))

    private func metric(_ name: String) -> String? {
        text(self.registry.exposition(.text)).split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    @Test("writes every record of every thread, whole and once")
    func manyThreads() async throws {
        let folder = try TemporaryFolder()
        let log = try AccessLog(.file(path: folder.file("log")))
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask { for number in 0..<2500 { log.append(record(thread * 2500 + number)) } }
            }
        }
        #expect(log.stop(within: .seconds(20)))
        let numbers = try folder.lines("log").map { try #require(try members($0)["attempts"] as? Double) }
        #expect(numbers.count == 10_000)
        #expect(Set(numbers).count == 10_000)
        #expect(log.losses == LogWriter.Losses())
    }

    @Test("writes without being stopped")
    func flushes() throws {
        let folder = try TemporaryFolder()
        let log = try AccessLog(.file(path: folder.file("log")))
        log.append(record())
        #expect(try eventually { try folder.lines("log").count == 1 })
        log.stop()
    }

    @Test("appends to what is there, readable by owner and group alone")
    func appends() throws {
        let folder = try TemporaryFolder()
        for _ in 0..<2 {
            let log = try AccessLog(.file(path: folder.file("log")))
            log.append(record())
            log.stop()
        }
        #expect(try folder.lines("log").count == 2)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("log"))
        let mode = try #require(attributes[.posixPermissions] as? Int)
        #expect(mode & 0o137 == 0)
    }

    @Test("goes on in a new file when the old one was moved away")
    func rotation() throws {
        let folder = try TemporaryFolder()
        let log = try AccessLog(.file(path: folder.file("log")))
        log.append(record(1))
        #expect(try eventually { try folder.lines("log").count == 1 })
        #expect(rename(folder.file("log"), folder.file("log.1")) == 0)
        log.reopen()
        #expect(eventually { FileManager.default.fileExists(atPath: folder.file("log")) })
        log.append(record(2))
        log.stop()
        #expect(try folder.lines("log.1").count == 1)
        #expect(try members(try #require(try folder.lines("log").first))["attempts"] as? Double == 2)
    }

    @Test("keeps the old file when the new one cannot be opened")
    func failedRotation() throws {
        let folder = try TemporaryFolder()
        let inner = folder.file("inner")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        let log = try AccessLog(.file(path: inner + "/log"), metrics: self.registry.background)
        #expect(rename(inner, folder.file("moved")) == 0)
        log.reopen()
        #expect(eventually { log.losses.writeErrors == 1 })
        log.append(record())
        log.stop()
        #expect(try folder.lines("moved/log").count == 1)
        #expect(self.metric("askgate_access_log_write_errors_total") == "1")
    }

    @Test("does not wait for the reader of a pipe to come")
    func pipeWithoutReader() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(throws: LogFailure.cannotOpen(errno: ENXIO)) {
            _ = try AccessLog(.file(path: folder.file("pipe")))
        }
    }

    @Test("says why a file cannot be opened")
    func cannotOpen() throws {
        let folder = try TemporaryFolder()
        #expect(throws: LogFailure.cannotOpen(errno: ENOENT)) {
            _ = try AccessLog(.file(path: folder.file("missing/log")))
        }
    }

    @Test("drops and counts when nobody reads, and ends in bounded time")
    func stalledSink() throws {
        let folder = try TemporaryFolder()
        let pipe = try Pipe(in: folder)
        let operations = try OperationLog(.file(path: folder.file("operations")), clock: HandClock())
        let log = try AccessLog(
            .file(path: pipe.path), limits: LogWriter.Limits(bytes: 50_000, lines: 10_000),
            metrics: self.registry.background, operations: operations)
        for number in 0..<20_000 { log.append(record(number)) }
        #expect(log.losses.linesDropped > 0)
        #expect(!log.stop(within: .milliseconds(50)))
        let written = text(pipe.readAll()).split(separator: "\n")
        #expect(!written.isEmpty)
        for line in written { _ = try members(line) }
        #expect(written.count + log.losses.linesDropped == 20_000)
        #expect(self.metric("askgate_access_records_dropped_total") == "\(log.losses.linesDropped)")
        operations.stop()
        let told = try folder.lines("operations")
        #expect(told.count == 20, "one line for each loss would be a flood")
        #expect(try members(try #require(told.first))["message"] as? String == "access records lost")
    }

    @Test("takes up again when the sink does")
    func recovers() throws {
        let folder = try TemporaryFolder()
        let pipe = try Pipe(in: folder)
        let log = try AccessLog(.file(path: pipe.path), limits: LogWriter.Limits(bytes: 20_000, lines: 100))
        for number in 0..<2000 { log.append(record(number)) }
        let dropped = log.losses.linesDropped
        var lines = 0
        #expect(
            eventually {
                lines += text(pipe.readAll()).split(separator: "\n").count
                return lines + dropped == 2000
            })
        log.append(record(1))
        #expect(log.stop(within: .seconds(10)))
        #expect(text(pipe.readAll()).split(separator: "\n").count == 1)
    }

    @Test("counts a reader that went away, and survives it")
    func brokenPipe() throws {
        let folder = try TemporaryFolder()
        var pipe: Pipe? = try Pipe(in: folder)
        let path = try #require(pipe?.path)
        let log = try AccessLog(.file(path: path))
        pipe = nil
        log.append(record())
        #expect(eventually { log.losses == LogWriter.Losses(linesDropped: 1, writeErrors: 1) })
        let again = try Pipe(reading: path)
        log.append(record(1))
        log.stop()
        #expect(text(again.readAll()).split(separator: "\n").count == 1)
    }

    @Test("bounds its lines as well as its bytes")
    func lineLimit() throws {
        let folder = try TemporaryFolder()
        let pipe = try Pipe(in: folder)
        let log = try AccessLog(.file(path: pipe.path), limits: LogWriter.Limits(bytes: 100_000_000, lines: 10))
        for number in 0..<5000 { log.append(record(number)) }
        #expect(log.losses.linesDropped > 0)
        log.stop(within: .milliseconds(10))
    }

    @Test("writes nothing when it is switched off")
    func off() throws {
        let log = try AccessLog(.none, limits: LogWriter.Limits(bytes: 1, lines: 1))
        for number in 0..<100 { log.append(record(number)) }
        log.reopen()
        #expect(log.stop())
        #expect(log.losses == LogWriter.Losses())
    }

    @Test("counts what comes after its end")
    func afterStop() throws {
        let folder = try TemporaryFolder()
        let log = try AccessLog(.file(path: folder.file("log")))
        #expect(log.stop())
        log.append(record())
        #expect(log.losses.linesDropped == 1)
        #expect(log.stop())
    }
}
