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

    /// Brings up to date how many connections are open, over all loops and listeners.
    package func connectionsSampled(_ open: Int) { self.record { $0.set(.connections, to: Int64(open)) } }

    package func storeAnswered(_ operation: StoreOperation, after span: TimeSpan) {
        let key = SeriesKey(self.known.operations[operation])
        self.record { $0.observe(span.nanoseconds, in: .storeLatency, key) }
    }

    /// Brings this loop's part up to date of what its quota gate and store count themselves.
    package func quotaSampled(_ sample: QuotaSample) {
        self.record { state in
            state.set(.leases, to: Int64(sample.leases))
            state.set(.reservationsLeaked, to: Int64(sample.leaked))
            state.set(.leasesLost, to: Int64(sample.lostLeases))
            state.set(.admittedWithoutStore, to: Int64(sample.admittedWithoutStore))
            state.set(.storeDegraded, to: sample.isDegraded ? 1 : 0)
            state.set(.settlementsWaiting, to: Int64(sample.waitingSettlements))
            state.set(.settlementsDropped, to: Int64(sample.droppedSettlements))
            for (reason, count) in sample.failures { state.set(.storeErrors, SeriesKey(reason), to: Int64(count)) }
        }
    }

    /// Brings up to date how the key sets of issuers fare, and how many orders are known.
    /// - Parameter samples: one for each issuer whose keys are fetched; of others nothing is shown any more.
    package func identitySampled(_ samples: [KeySetSample], orders: Int) {
        self.record { state in
            state.set(.standingOrders, to: Int64(orders))
            let known = Set(samples.map(\.issuer))
            for family in [MetricFamily.keySetAge, .keySetKeys] {
                state.hide(family) { !known.contains($0.label(0)) }
            }
            for sample in samples {
                let issuer = SeriesKey(sample.issuer)
                state.set(.keySetKeys, issuer, to: Int64(sample.keys))
                if let age = sample.age {
                    state.set(.keySetAge, issuer, to: age.nanoseconds)
                } else {
                    state.hide(.keySetAge) { $0 == issuer }
                }
                for (outcome, count) in sample.fetches {
                    state.set(.keySetFetches, SeriesKey(sample.issuer, outcome), to: Int64(count))
                }
            }
        }
    }

    /// Brings up to date what is kept of answers, over all loops.
    package func questionsSampled(count: Int, bytes: Int) {
        self.record { state in
            state.set(.questions, to: Int64(count))
            state.set(.questionBytes, to: Int64(bytes))
        }
    }

    /// A hop between instances has ended.
    package func hopEnded(_ side: HopSide, _ outcome: HopOutcome) {
        let key = SeriesKey(self.known.hopSides[side], self.known.hopOutcomes[outcome])
        self.record { $0.add(1, to: .hops, key) }
    }

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

/// What one loop's quota gate and store have counted since the start.
package struct QuotaSample: Sendable {
    /// Held now.
    package var leases = 0
    package var leaked = 0
    package var lostLeases = 0
    package var admittedWithoutStore = 0
    /// The store does not answer this loop; one loop is enough to show the instance as degraded.
    package var isDegraded = false
    package var waitingSettlements = 0
    package var droppedSettlements = 0
    /// Calls that failed, by the bounded name of the reason.
    package var failures: [(LabelID, Int)] = []

    package init() {}
}

/// How the keys of one issuer fare.
package struct KeySetSample: Sendable {
    package var issuer: LabelID
    package var keys: Int
    /// Since they were last confirmed; nil while there are none.
    package var age: TimeSpan?
    /// By how they ended.
    package var fetches: [LabelID: Int]

    package init(issuer: LabelID, keys: Int, age: TimeSpan?, fetches: [LabelID: Int]) {
        self.issuer = issuer
        self.keys = keys
        self.age = age
        self.fetches = fetches
    }
}
