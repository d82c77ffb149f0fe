extension MetricDefinition {
    /// By the raw value of the family.
    static let all: [MetricDefinition] = MetricFamily.allCases.map(definition)

    private static func definition(of family: MetricFamily) -> MetricDefinition {
        switch family {
        case .asks, .tokens, .admissions, .overhead, .inFlightAsks, .leases, .reservationsLeaked: ask(family)
        case .answerCache: cache
        case .questions, .questionBytes, .hops: question(family)
        case .storeLatency, .storeErrors, .storeDegraded, .providerAttempts, .providerState: behind(family)
        case .settlementsWaiting, .settlementsDropped, .leasesLost, .admittedWithoutStore: store(family)
        case .tokenUsage, .operationDuration, .timeToFirstToken: model(family)
        case .authenticationFailures, .httpRequests, .httpDuration, .connections: front(family)
        case .keySetFetches, .keySetAge, .keySetKeys, .standingOrders: identity(family)
        case .snapshotGeneration, .configReloads, .accessRecordsDropped, .accessLogWriteErrors: operation(family)
        default: process(family)
        }
    }

    private static func ask(_ family: MetricFamily) -> MetricDefinition {
        let who: [Label] = [.name("tenant"), .name("plan"), .name("task")]
        return switch family {
        case .asks:
            .init(
                name: "askgate_asks", help: "Asks that have ended, by how they ended.", kind: .counter,
                labels: who + [.name("outcome")])
        case .tokens:
            .init(
                name: "askgate_tokens", help: "Tokens charged, by type.", kind: .counter, labels: who + [.name("type")])
        case .admissions:
            .init(
                name: "askgate_admissions", help: "Decisions of admission, one for each limit that was looked at.",
                kind: .counter, labels: [.name("limit"), .name("scope"), .name("decision")])
        case .overhead:
            .init(
                name: "askgate_overhead_seconds", help: "Time the gateway itself took, by stage.",
                kind: .histogram(.short), scale: .nanoseconds, unit: "seconds", labels: [.name("stage")])
        case .inFlightAsks:
            .init(name: "askgate_in_flight_asks", help: "Asks on their way now.", kind: .sum)
        case .leases:
            .init(name: "askgate_leases", help: "Places for concurrent asks held now by this instance.", kind: .sum)
        default:
            .init(
                name: "askgate_reservations_leaked",
                help: "Reservations that were dropped unsettled and were settled as reserved; always a defect.",
                kind: .counter)
        }
    }

    private static let cache = Self(
        name: "askgate_answer_cache", help: "Asks of tasks that keep answers, by where the answer came from.",
        kind: .counter, labels: [.name("tenant"), .name("task"), .name("result")])

    private static func question(_ family: MetricFamily) -> MetricDefinition {
        switch family {
        case .questions:
            .init(name: "askgate_questions", help: "Answers kept now for clients that come back.", kind: .maximum)
        case .questionBytes:
            .init(
                name: "askgate_questions_bytes", help: "Memory that kept answers are counted with.", kind: .maximum,
                unit: "bytes")
        default:
            .init(
                name: "askgate_hops",
                help: "Follows, cancels and repeats of questions of another instance, by how they ended.",
                kind: .counter, labels: [.name("side"), .name("outcome")])
        }
    }

    private static func behind(_ family: MetricFamily) -> MetricDefinition {
        switch family {
        case .storeLatency:
            .init(
                name: "askgate_store_latency_seconds", help: "Time until the quota store answered.",
                kind: .histogram(.short), scale: .nanoseconds, unit: "seconds", labels: [.name("operation")])
        case .storeErrors:
            .init(
                name: "askgate_store_errors", help: "Calls of the quota store that failed, by reason.", kind: .counter,
                labels: [.name("reason")])
        case .storeDegraded:
            .init(
                name: "askgate_store_degraded",
                help: "1 while the quota store cannot be asked and each limit's stance decides.", kind: .maximum)
        case .providerAttempts:
            .init(
                name: "askgate_provider_attempts", help: "Calls of providers, by how they ended.", kind: .counter,
                labels: [.name("provider"), .name("outcome")])
        default:
            .init(
                name: "askgate_provider_state",
                help: "Breaker of a provider: 0 closed, 1 half open, 2 open.", kind: .maximum,
                labels: [.name("provider")])
        }
    }

    private static func store(_ family: MetricFamily) -> MetricDefinition {
        switch family {
        case .settlementsWaiting:
            .init(
                name: "askgate_store_settlements_waiting", help: "Settlements kept for a store that does not answer.",
                kind: .sum)
        case .settlementsDropped:
            .init(
                name: "askgate_store_settlements_dropped",
                help: "Settlements given up; their asks stay charged as reserved.", kind: .counter)
        case .leasesLost:
            .init(
                name: "askgate_leases_lost", help: "Leases that were gone from the store while their ask still ran.",
                kind: .counter)
        default:
            .init(
                name: "askgate_admitted_without_store",
                help: "Asks admitted by their limits' stances while the store did not answer.", kind: .counter)
        }
    }

    private static func model(_ family: MetricFamily) -> MetricDefinition {
        let call: [Label] = [
            .name("gen_ai_operation_name"), .name("gen_ai_provider_name"), .name("gen_ai_request_model"),
        ]
        return switch family {
        case .tokenUsage:
            .init(
                name: "gen_ai_client_token_usage", help: "Input and output tokens of calls of models.",
                kind: .histogram(.tokens), labels: call + [.name("gen_ai_token_type")])
        case .operationDuration:
            .init(
                name: "gen_ai_client_operation_duration_seconds", help: "Duration of calls of models.",
                kind: .histogram(.operation), scale: .nanoseconds, unit: "seconds",
                labels: call + [.name("error_type")])
        default:
            .init(
                name: "gen_ai_server_time_to_first_token_seconds",
                help: "Time from sending a call to the first text of its answer.", kind: .histogram(.operation),
                scale: .nanoseconds, unit: "seconds", labels: call)
        }
    }

    private static func front(_ family: MetricFamily) -> MetricDefinition {
        let exchange: [Label] = [.name("route"), .name("method"), .number("code")]
        return switch family {
        case .authenticationFailures:
            .init(
                name: "askgate_authentication_failures", help: "Callers that were refused, by reason.", kind: .counter,
                labels: [.name("reason")])
        case .httpRequests:
            .init(
                name: "askgate_http_requests", help: "Requests answered, by route, method and status.",
                kind: .counter, labels: exchange)
        case .httpDuration:
            .init(
                name: "http_server_request_duration_seconds",
                help: "Time from the first byte of a request to the last of its answer.", kind: .histogram(.http),
                scale: .nanoseconds, unit: "seconds", labels: exchange)
        default: .init(name: "askgate_connections", help: "Connections open now, of all listeners.", kind: .sum)
        }
    }

    private static func identity(_ family: MetricFamily) -> MetricDefinition {
        switch family {
        case .keySetFetches:
            .init(
                name: "askgate_key_set_fetches", help: "Fetches of an issuer's keys, by how they ended.",
                kind: .counter, labels: [.name("issuer"), .name("outcome")])
        case .keySetAge:
            .init(
                name: "askgate_key_set_age_seconds", help: "Time since an issuer last confirmed its keys.",
                kind: .maximum, scale: .nanoseconds, unit: "seconds", labels: [.name("issuer")])
        case .keySetKeys:
            .init(
                name: "askgate_key_set_keys", help: "Keys of an issuer in use; 0 while none is known.",
                kind: .maximum, labels: [.name("issuer")])
        default:
            .init(
                name: "askgate_standing_orders",
                help: "Revocations, given plans and closed guests that this instance knows.", kind: .maximum)
        }
    }

    private static func operation(_ family: MetricFamily) -> MetricDefinition {
        switch family {
        case .snapshotGeneration:
            .init(
                name: "askgate_snapshot_generation",
                help: "Number of the configuration in force, rising with each reload.", kind: .maximum)
        case .configReloads:
            .init(
                name: "askgate_config_reloads", help: "Times the configuration was read again, by result.",
                kind: .counter, labels: [.name("result")])
        case .accessRecordsDropped:
            .init(
                name: "askgate_access_records_dropped",
                help: "Access records lost because their sink was full, slow or failing.", kind: .counter)
        default:
            .init(
                name: "askgate_access_log_write_errors", help: "Writes of the access log that failed.", kind: .counter)
        }
    }

    private static func process(_ family: MetricFamily) -> MetricDefinition {
        switch family {
        case .buildInfo:
            .init(
                name: "askgate_build", help: "What is running.", kind: .info,
                labels: [.name("version")])
        case .processCPU:
            .init(
                name: "process_cpu_seconds", help: "CPU time of the process, user and system.", kind: .counter,
                scale: .microseconds, unit: "seconds")
        case .processResidentMemory:
            .init(
                name: "process_resident_memory_bytes", help: "Resident memory of the process.", kind: .maximum,
                unit: "bytes")
        case .processOpenFiles: .init(name: "process_open_fds", help: "Open file descriptors.", kind: .maximum)
        case .processFileLimit:
            .init(name: "process_max_fds", help: "Most file descriptors that may be open.", kind: .maximum)
        default:
            .init(
                name: "process_start_time_seconds", help: "Start of the process, in seconds since 1970.",
                kind: .maximum, scale: .microseconds, unit: "seconds")
        }
    }
}
