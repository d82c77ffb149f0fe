package import GatewayTypes

extension MetricsShard {
    /// An answer was sent to its end, or as far as the client stayed.
    ///
    /// - Parameter route: the template's label, `other` for a path that no route has.
    package func requestAnswered(route: LabelID, method: MethodLabel, status: Int, duration: TimeSpan) {
        let code = (100...599).contains(status) ? SeriesKey.number(status) : .other
        let key = SeriesKey(route, self.known.methods[method], code)
        self.record { state in
            state.add(1, to: .httpRequests, key)
            state.observe(duration.nanoseconds, in: .httpDuration, key)
        }
    }

    /// Client connections were accepted (positive) or closed (negative).
    package func connectionsChanged(by change: Int) { self.record { $0.add(Int64(change), to: .connections) } }

    package func storeAnswered(_ operation: StoreOperation, after span: TimeSpan) {
        let key = SeriesKey(self.known.operations[operation])
        self.record { $0.observe(span.nanoseconds, in: .storeLatency, key) }
    }

    /// - Parameter reason: the bounded name of the failure.
    package func storeFailed(_ reason: LabelID) { self.record { $0.add(1, to: .storeErrors, SeriesKey(reason)) } }

    /// Whether this loop can ask the store. One loop that cannot is enough to show the instance as degraded.
    package func storeDegraded(_ isDegraded: Bool) { self.record { $0.set(.storeDegraded, to: isDegraded ? 1 : 0) } }

    /// A snapshot came into force.
    package func snapshotApplied(generation: Int) {
        self.record { $0.set(.snapshotGeneration, to: Int64(generation)) }
    }

    package func configurationReloaded(_ result: ReloadResult) {
        let key = SeriesKey(self.known.reloads[result])
        self.record { $0.add(1, to: .configReloads, key) }
    }

    package func accessRecordsDropped(_ count: Int) { self.record { $0.add(Int64(count), to: .accessRecordsDropped) } }

    package func accessLogWriteFailed() { self.record { $0.add(1, to: .accessLogWriteErrors) } }
}
