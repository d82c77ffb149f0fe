import GatewayTypes
import Testing

@testable import Observability

@Suite("Metrics")
struct MetricsTests {
    private let registry = MetricsRegistry(loops: 2, version: "1.2.3", startTime: WallTime(seconds: 1_800_000_000))

    private func scrape(_ format: ExpositionFormat = .text) throws -> ExpositionChecker {
        try ExpositionChecker(text(self.registry.exposition(format)), openMetrics: format == .openMetrics)
    }

    /// Records something in every family.
    private func recordEverything() {
        let labels = self.registry.labels
        let provider = labels.intern(ProviderName("main"))
        let model = labels.intern(ModelName("small \"1\"\\\n"))
        for shard in self.registry.shards {
            shard.askStarted()
            shard.askStarted()
            shard.askEnded(
                AskMeasurement(
                    tenant: labels.intern(TenantID("acme")), plan: labels.intern(PlanName("pro")),
                    task: labels.intern(TaskName("titles")), outcome: .answered,
                    usage: TokenUsage(input: 10, output: 5, total: 18, source: .provider)))
            shard.admissionDecided(.refused, limit: .tokensPerDay, scope: .tenant)
            shard.overheadMeasured(.microseconds(40), in: .admit)
            shard.answerCacheAsked(.hit, tenant: .other, task: .other)
            var sample = QuotaSample()
            sample.leases = 2
            sample.leaked = 1
            sample.failures = [(labels.intern("timeout"), 1)]
            shard.quotaSampled(sample)
            shard.storeAnswered(.settle, after: .milliseconds(2))
            shard.attemptEnded(
                AttemptMeasurement(
                    provider: provider, model: model, outcome: labels.intern("answered"), isFailure: false,
                    duration: .milliseconds(1280), firstToken: .milliseconds(90),
                    usage: TokenUsage(input: 10, output: 5, source: .provider)))
            shard.attemptEnded(
                AttemptMeasurement(
                    provider: provider, model: model, outcome: labels.intern("connect"), isFailure: true,
                    duration: .seconds(100)))
            shard.authenticationFailed(labels.intern("expired"))
            shard.requestAnswered(
                route: labels.intern("/api/process"), method: .post, status: 200, duration: .milliseconds(12))
            shard.configurationReloaded(.applied)
            shard.accessRecordsDropped(7)
            shard.accessLogWriteFailed()
            shard.hopEnded(.served, .badSignature)
        }
        self.registry.background.questionsSampled(count: 3, bytes: 4096)
        self.registry.background.connectionsSampled(8)
        self.registry.shards[0].providerStateChanged(provider, to: .open)
        self.registry.shards[1].providerStateChanged(provider, to: .closed)
        var degraded = QuotaSample()
        degraded.leases = 2
        degraded.leaked = 1
        degraded.isDegraded = true
        self.registry.shards[1].quotaSampled(degraded)
        self.registry.background.snapshotApplied(generation: 4)
        let fetched = [labels.intern("fetched"): 3, labels.intern("timeout"): 1]
        self.registry.background.identitySampled(
            [KeySetSample(issuer: labels.intern("https://id.test"), keys: 2, age: .seconds(90), fetches: fetched)],
            orders: 5)
    }

    @Test("are well-formed in both formats, with something in every family", arguments: ExpositionFormat.allCases)
    func wellFormed(format: ExpositionFormat) throws {
        self.recordEverything()
        let checked = try self.scrape(format)
        let names = Set(checked.samples.map(\.name))
        for definition in MetricDefinition.all {
            #expect(names.contains { $0.hasPrefix("\(definition.name)") }, "\(definition.name)")
        }
        #expect(checked.value("askgate_hops_total", ["side": "served", "outcome": "bad_signature"]) == 2)
        #expect(checked.value("askgate_questions") == 3 && checked.value("askgate_questions_bytes") == 4096)
        #expect(checked.value("askgate_build_info", ["version": "1.2.3"]) == 1)
    }

    @Test("are well-formed when nothing has happened", arguments: ExpositionFormat.allCases)
    func empty(format: ExpositionFormat) throws {
        let checked = try self.scrape(format)
        #expect(checked.value("askgate_in_flight_asks") == 0)
        #expect(checked.value("askgate_reservations_leaked_total") == 0)
        #expect(checked.value("process_start_time_seconds") == 1_800_000_000)
        #expect((checked.value("process_resident_memory_bytes") ?? 0) > 1_000_000)
        #expect((checked.value("process_open_fds") ?? 0) >= 3)
        #expect((checked.value("process_max_fds") ?? 0) >= 3)
        #expect((checked.value("process_cpu_seconds_total") ?? 0) > 0)
        #expect(!checked.samples.contains { $0.name == "askgate_asks_total" })
    }

    @Test("are summed over the loops")
    func sums() throws {
        self.recordEverything()
        let checked = try self.scrape()
        let who = ["tenant": "acme", "plan": "pro", "task": "titles"]
        #expect(checked.value("askgate_asks_total", who.merging(["outcome": "answered"]) { $1 }) == 2)
        #expect(checked.value("askgate_tokens_total", who.merging(["type": "input"]) { $1 }) == 20)
        #expect(checked.value("askgate_tokens_total", who.merging(["type": "output"]) { $1 }) == 10)
        #expect(checked.value("askgate_tokens_total", who.merging(["type": "unattributed"]) { $1 }) == 6)
        #expect(checked.value("askgate_in_flight_asks") == 2)
        #expect(checked.value("askgate_leases") == 4)
        #expect(checked.value("askgate_connections") == 8)
        #expect(
            checked.value(
                "askgate_admissions_total", ["limit": "tokens_per_day", "scope": "tenant", "decision": "refused"]) == 2)
        #expect(
            checked.value("askgate_http_requests_total", ["route": "/api/process", "method": "POST", "code": "200"])
                == 2)
        #expect(checked.value("askgate_access_records_dropped_total") == 14)
    }

    @Test("show the worst of all loops where a sum means nothing")
    func worst() throws {
        self.recordEverything()
        let checked = try self.scrape()
        #expect(checked.value("askgate_provider_state", ["provider": "main"]) == 2)
        #expect(checked.value("askgate_store_degraded") == 1)
        #expect(checked.value("askgate_snapshot_generation") == 4)
    }

    @Test("tell how the keys of issuers fare, and nothing of issuers that are gone")
    func keySets() throws {
        self.recordEverything()
        let issuer = ["issuer": "https://id.test"]
        var checked = try self.scrape()
        #expect(checked.value("askgate_key_set_fetches_total", issuer.merging(["outcome": "fetched"]) { $1 }) == 3)
        #expect(checked.value("askgate_key_set_fetches_total", issuer.merging(["outcome": "timeout"]) { $1 }) == 1)
        #expect(checked.value("askgate_key_set_age_seconds", issuer) == 90)
        #expect(checked.value("askgate_key_set_keys", issuer) == 2)
        #expect(checked.value("askgate_standing_orders") == 5)
        self.registry.background.identitySampled([], orders: 0)
        checked = try self.scrape()
        #expect(checked.value("askgate_key_set_age_seconds", issuer) == nil)
        #expect(checked.value("askgate_key_set_keys", issuer) == nil)
        #expect(checked.value("askgate_standing_orders") == 0)
    }

    @Test("put values in the bucket whose bound they do not pass")
    func buckets() throws {
        self.recordEverything()
        self.registry.background.overheadMeasured(.microseconds(50), in: .total)
        self.registry.background.overheadMeasured(TimeSpan(nanoseconds: 50_001), in: .total)
        self.registry.background.overheadMeasured(TimeSpan(nanoseconds: -5), in: .total)
        self.registry.background.overheadMeasured(.seconds(9), in: .total)
        let checked = try self.scrape()
        func bucket(_ limit: String) -> Double? {
            checked.value("askgate_overhead_seconds_bucket", ["stage": "total", "le": limit])
        }
        #expect(bucket("1e-05") == 1)
        #expect(bucket("5e-05") == 2)
        #expect(bucket("0.0001") == 3)
        #expect(bucket("1.0") == 3)
        #expect(bucket("+Inf") == 4)
        #expect(checked.value("askgate_overhead_seconds_sum", ["stage": "total"]) == 9.000100001)
        let call = [
            "gen_ai_operation_name": "chat", "gen_ai_provider_name": "main", "gen_ai_request_model": "small \"1\"\\\n",
        ]
        #expect(checked.value("gen_ai_client_operation_duration_seconds_count", call) == 2)
        #expect(
            checked.value(
                "gen_ai_client_operation_duration_seconds_count", call.merging(["error_type": "connect"]) { $1 }) == 2)
        #expect(checked.value("gen_ai_server_time_to_first_token_seconds_sum", call) == 0.18)
        #expect(
            checked.value("gen_ai_client_token_usage_sum", call.merging(["gen_ai_token_type": "input"]) { $1 }) == 20)
    }

    @Test("keep their bounds and labels in step")
    func definitions() {
        for definition in MetricDefinition.all {
            #expect(definition.labels.count <= 4)
            guard case .histogram(let bounds) = definition.kind else { continue }
            #expect(bounds.limits == bounds.limits.sorted())
            for (limit, label) in zip(bounds.limits, bounds.labels) {
                let scale = definition.scale.places == 9 ? 1e9 : 1
                #expect(Double("\(label)") == Double(limit) / scale)
            }
        }
    }

    @Test("name nothing that a client made up")
    func probes() throws {
        let shard = self.registry.shards[0]
        let route = self.registry.labels.intern("/api/process")
        shard.requestAnswered(route: route, method: .post, status: 200, duration: .milliseconds(1))
        let before = try self.scrape().samples.count
        for number in 0..<10_000 {
            let path = self.registry.labels.find(ByteString("/probe-\(number)"))
            let method = MethodLabel(Array("M\(number)".utf8).span)
            shard.requestAnswered(route: path, method: method, status: 404, duration: .milliseconds(1))
            shard.requestAnswered(route: route, method: .post, status: 1000 + number, duration: .milliseconds(1))
        }
        let checked = try self.scrape()
        #expect(checked.samples.count - before < 50)
        #expect(
            checked.value("askgate_http_requests_total", ["route": "other", "method": "_OTHER", "code": "404"])
                == 10_000)
        #expect(
            checked.value("askgate_http_requests_total", ["route": "/api/process", "method": "POST", "code": "other"])
                == 10_000)
    }

    @Test("hold a family to its number of series and count the rest as other")
    func seriesLimit() throws {
        let registry = MetricsRegistry(
            loops: 2, version: "1", startTime: WallTime(seconds: 0), seriesLimit: 10)
        for number in 0..<100 {
            let task = registry.labels.intern(TaskName("task-\(number)"))
            for shard in registry.shards {
                shard.askStarted()
                shard.askEnded(AskMeasurement(task: task, outcome: .answered))
            }
        }
        let checked = try ExpositionChecker(text(registry.exposition(.text)), openMetrics: false)
        let asks = checked.samples.filter { $0.name == "askgate_asks_total" }
        #expect(asks.count == 11)
        #expect(asks.reduce(0) { $0 + $1.value } == 200)
        let other = ["tenant": "other", "plan": "other", "task": "other", "outcome": "other"]
        #expect(checked.value("askgate_asks_total", other) == 180)
    }

    @Test("go on over a reload and forget the state of providers that are gone")
    func reload() throws {
        self.recordEverything()
        let gone = self.registry.labels.intern(ProviderName("gone"))
        self.registry.shards[0].providerStateChanged(gone, to: .open)
        #expect(try self.scrape().value("askgate_provider_state", ["provider": "gone"]) == 2)
        self.registry.providersConfigured([self.registry.labels.intern(ProviderName("main"))])
        let checked = try self.scrape()
        #expect(checked.value("askgate_provider_state", ["provider": "gone"]) == nil)
        #expect(checked.value("askgate_provider_state", ["provider": "main"]) == 2)
        #expect(checked.value("askgate_provider_attempts_total", ["provider": "main", "outcome": "connect"]) == 2)
        self.registry.shards[0].providerStateChanged(gone, to: .halfOpen)
        #expect(try self.scrape().value("askgate_provider_state", ["provider": "gone"]) == 1)
    }

    @Test("lose no count when all threads record and a scraper reads")
    func concurrent() async throws {
        let registry = self.registry
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for number in 0..<2000 {
                        let task = registry.labels.intern(TaskName("t\(number % 20)"))
                        let shard = registry.shards[thread % 2]
                        shard.askStarted()
                        shard.askEnded(AskMeasurement(task: task, outcome: .clientGone))
                        shard.overheadMeasured(.microseconds(30), in: .total)
                    }
                }
            }
            group.addTask {
                for _ in 0..<20 { #expect(throws: Never.self) { _ = try self.scrape() } }
            }
        }
        let checked = try self.scrape()
        #expect(checked.samples.filter { $0.name == "askgate_asks_total" }.reduce(0) { $0 + $1.value } == 8000)
        #expect(checked.value("askgate_in_flight_asks") == 0)
        #expect(checked.value("askgate_overhead_seconds_count", ["stage": "total"]) == 8000)
    }

    @Test("keep a label's meaning, and run into other when the table is full")
    func labelTable() {
        let table = LabelTable(capacity: 4)
        let first = table.intern("a")
        #expect(table.intern("b") != first)
        #expect(table.intern("a") == first)
        #expect(table.find("a") == first)
        #expect(table.find("c") == .other)
        #expect(table.intern("c") == .other)
        let other = LabelTable()
        #expect(other.intern("caf\u{E9}") != other.intern("cafe\u{301}"), "names compare as bytes")
    }

    @Test(
        "name methods by a closed set",
        arguments: [
            ("GET", "GET"), ("POST", "POST"), ("DELETE", "DELETE"), ("get", "_OTHER"), ("GETS", "_OTHER"),
            ("", "_OTHER"),
            ("_OTHER", "_OTHER"), ("BREW", "_OTHER"),
        ])
    func methods(method: String, label: String) {
        #expect(MethodLabel(Array(method.utf8).span).metricLabel == label)
    }

    @Test(
        "are written as OpenMetrics only for who asks",
        arguments: [
            ("", ExpositionFormat.text), ("*/*", .text), ("text/plain", .text),
            ("application/openmetrics-text", .openMetrics),
            ("application/openmetrics-text; version=1.0.0; charset=utf-8", .openMetrics),
            ("Application/OpenMetrics-Text;version=\"1.0.0\"", .openMetrics),
            ("application/openmetrics-text;version=0.0.1", .text),
            ("application/openmetrics-text;q=0", .text), ("application/openmetrics-text;q=x", .text),
            ("text/plain;q=0.9, application/openmetrics-text;version=1.0.0;q=0.5", .text),
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
            ),
        ])
    func negotiation(accept: String, format: ExpositionFormat) { #expect(ExpositionFormat(accept: accept) == format) }
}
