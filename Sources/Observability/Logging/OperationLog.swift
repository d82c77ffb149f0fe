package import GatewayTypes

/// What operators are told: start, stop, reloads, trouble with providers and stores.
///
/// Messages are constants and values are typed (`LogField`), so content cannot get in by accident. Each message may
/// come 20 times at once and then once every 3 s; the next line that passes says how many were held back.
package final class OperationLog: Sendable {
    package enum Level: String, Sendable, CaseIterable {
        case debug
        case info
        case warning
        case error

        var rank: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }
    }

    package enum Format: String, Sendable, CaseIterable {
        case json
        case text
    }

    private let writer: LogWriter
    private let level: Level
    private let format: Format
    private let clock: any Clock
    private let limiter = MessageLimiter()

    /// - Parameter level: lines below it are left out.
    package init(
        _ sink: LogSink = .standardError, level: Level = .info, format: Format = .json, clock: any Clock,
        limits: LogWriter.Limits = LogWriter.Limits(bytes: 1_048_576, lines: 8192)
    ) throws(LogFailure) {
        self.writer = try LogWriter(sink, limits: limits)
        self.level = level
        self.format = format
        self.clock = clock
    }

    package func debug(_ message: StaticString, _ fields: [LogField] = []) { self.log(.debug, message, fields) }
    package func info(_ message: StaticString, _ fields: [LogField] = []) { self.log(.info, message, fields) }
    package func warning(_ message: StaticString, _ fields: [LogField] = []) { self.log(.warning, message, fields) }
    package func error(_ message: StaticString, _ fields: [LogField] = []) { self.log(.error, message, fields) }

    package func log(_ level: Level, _ message: StaticString, _ fields: [LogField] = []) {
        guard level.rank >= self.level.rank else { return }
        guard let suppressed = self.limiter.admit(message, at: self.clock.monotonicTime()) else { return }
        let line = OperationLine(
            time: self.clock.wallTime(), level: level, message: message, fields: fields, suppressed: suppressed)
        self.writer.append { output in
            switch self.format {
            case .json: line.appendJSON(to: &output)
            case .text: line.appendText(to: &output)
            }
        }
    }

    /// What was lost since the start, held-back lines not counted.
    package var losses: LogWriter.Losses { self.writer.losses }

    /// Opens the file again, for a rotation that moved it away.
    package func reopen() { self.writer.reopen() }

    /// Writes what waits and ends the writer; blocks, but no longer than about `limit`.
    @discardableResult
    package func stop(within limit: TimeSpan = .seconds(2)) -> Bool { self.writer.stop(within: limit) }
}

/// One line on its way.
struct OperationLine {
    let time: WallTime
    let level: OperationLog.Level
    let message: StaticString
    let fields: [LogField]
    /// Lines with this message that were held back before this one.
    let suppressed: Int

    func appendJSON(to output: inout [UInt8]) {
        output.append(literal: #"{"time":""#)
        output.append(timestamp: self.time)
        output.append(literal: #"","level":""#)
        output.append(contentsOf: self.level.rawValue.utf8)
        output.append(literal: #"","message":"#)
        output.append(.constant(self.message))
        for field in self.allFields {
            output.append(literal: ",\"")
            output.append(literal: field.key)
            output.append(literal: "\":")
            output.append(field.value)
        }
        output.append(literal: "}\n")
    }

    func appendText(to output: inout [UInt8]) {
        output.append(timestamp: self.time)
        output.append(literal: " ")
        output.append(contentsOf: self.level.rawValue.utf8)
        output.append(literal: " ")
        output.append(literal: self.message)
        for field in self.allFields {
            output.append(literal: " ")
            output.append(literal: field.key)
            output.append(literal: "=")
            output.append(field.value)
        }
        output.append(literal: "\n")
    }

    private var allFields: [LogField] {
        self.suppressed > 0 ? self.fields + [.int("suppressed", self.suppressed)] : self.fields
    }
}
