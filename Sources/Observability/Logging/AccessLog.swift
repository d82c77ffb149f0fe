package import GatewayTypes

/// Where access records go: one line of JSON for each, written by a thread of its own.
package final class AccessLog: Sendable {
    private let writer: LogWriter

    /// Opens the sink and starts the writer.
    ///
    /// - Parameters:
    ///   - metrics: counts lost records and failed writes.
    ///   - operations: told of losses, so that they are seen where the metrics are not read.
    package init(
        _ sink: LogSink, limits: LogWriter.Limits = LogWriter.Limits(), metrics: MetricsShard? = nil,
        operations: OperationLog? = nil
    ) throws(LogFailure) {
        self.writer = try LogWriter(sink, limits: limits) { losses in
            if losses.linesDropped > 0 { metrics?.accessRecordsDropped(losses.linesDropped) }
            for _ in 0..<losses.writeErrors { metrics?.accessLogWriteFailed() }
            operations?.warning("access records lost", [.int("lines", losses.linesDropped)])
        }
    }

    /// Leaves a record. Never waits: when the sink does not keep up the record is dropped and counted.
    package func append(_ record: borrowing AccessRecord) {
        // Borrowed through the closure, which does not outlive the call.
        self.writer.append { record.append(to: &$0) }
    }

    /// As above, of a request that is no ask.
    package func append(_ record: borrowing FollowRecord) {
        // Borrowed through the closure, which does not outlive the call.
        self.writer.append { record.append(to: &$0) }
    }

    /// What was lost since the start.
    package var losses: LogWriter.Losses { self.writer.losses }

    /// Opens the file again, for a rotation that moved it away.
    package func reopen() { self.writer.reopen() }

    /// Writes what waits and ends the writer; blocks, but no longer than about `limit`.
    @discardableResult
    package func stop(within limit: TimeSpan = .seconds(2)) -> Bool { self.writer.stop(within: limit) }
}
