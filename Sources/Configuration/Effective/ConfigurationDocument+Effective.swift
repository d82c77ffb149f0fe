import Asking
import Gateway
import GatewayTypes

extension ConfigurationDocument {
    /// The configuration as it is in force, every default filled in, as JSON; secrets are named by their place only.
    ///
    /// Two files that mean the same print the same, whatever their line ends, comments or quotes.
    package var effectiveText: String {
        var text = ""
        self.effective.write(to: &text)
        return text + "\n"
    }

    private var effective: EffectiveValue {
        .object([
            ("listeners", self.listeners.effective),
            ("loops", self.loops.map { .integer($0) } ?? .string("one per core")),
            ("store", self.store.effective),
            ("log", .object([("access", self.log.access.effective)])), ("http", self.http.effective),
            ("identity", .object([("state_directory", .optional(self.identity.stateDirectory))])),
            ("questions", self.questions.effective),
            ("operators", .object(self.operators.map { ($0.name, $0.effective) })),
            ("providers", .object(self.providers.map { ($0.name.string, $0.effective) })),
            ("tenants", .object(self.tenants.map { ($0.id.string, $0.effective) })),
        ])
    }
}

extension OperatorSettings {
    fileprivate var effective: EffectiveValue {
        .object([
            ("role", .string(self.role.rawValue)), ("token_sha256", .string("redacted")),
            ("tenants", self.tenants.map { .strings($0.map(\.string)) } ?? .string("all")),
        ])
    }
}

extension ListenerSettings {
    fileprivate var effective: EffectiveValue {
        func value(_ listener: ListenerAddress?) -> EffectiveValue {
            guard let listener else { return .null }
            return .object([("address", .string(listener.address)), ("port", .integer(Int(listener.port)))])
        }
        return .object([
            ("api", value(self.api)), ("admin", value(self.admin)), ("internal", self.hop?.effective ?? .null),
        ])
    }
}

extension HopSettings {
    fileprivate var effective: EffectiveValue {
        .object([
            ("address", .string(self.listener.address)), ("port", .integer(Int(self.listener.port))),
            ("advertise", .string(self.advertised ?? "its own address")),
            ("secret", .array(self.secrets.map { .secret($0) })),
        ])
    }
}

extension LogSettings.Sink {
    fileprivate var effective: EffectiveValue {
        switch self {
        case .stdout: .string("stdout")
        case .stderr: .string("stderr")
        case .none: .string("none")
        case .file(let path): .object([("file", .string(path))])
        }
    }
}

extension HTTPSettings {
    fileprivate var effective: EffectiveValue {
        .object([
            (
                "limits",
                .object([
                    ("request_line", .integer(self.maxRequestLine)), ("header_fields", .integer(self.maxHeaderFields)),
                    ("header_bytes", .integer(self.maxHeaderBytes)), ("header_name", .integer(self.maxHeaderName)),
                    ("header_value", .integer(self.maxHeaderValue)), ("body_bytes", .integer(self.maxBodyBytes)),
                    ("body_rate", .integer(self.minBodyRate)), ("connections", .integer(self.maxConnections)),
                ])
            ),
            (
                "timeouts",
                .object([
                    ("head", .span(self.headTimeout)), ("idle", .span(self.idleTimeout)),
                    ("body_grace", .span(self.bodyGrace)), ("write_stall", .span(self.writeStallTimeout)),
                ])
            ),
            ("drain", .object([("delay", .span(self.drainDelay)), ("deadline", .span(self.drainDeadline))])),
            ("heartbeat", .span(self.heartbeat)),
            ("trusted_proxies", .strings(self.trustedProxies.map(\.description))),
            ("failed_authentications", .integer(self.failedAuthentications)),
        ])
    }
}

extension ProviderSettings {
    fileprivate var effective: EffectiveValue {
        .object([
            ("dialect", .string(self.dialect.rawValue)), ("base_url", .optional(self.baseURL)),
            ("path", .string(self.path)), ("query", self.query.effective),
            ("key", self.key.map { .secret($0) } ?? .null), ("key_in", self.keyPlace.effective),
            (
                "timeouts",
                .object([
                    ("connect", .span(self.timeouts.connect)), ("first_byte", .span(self.timeouts.firstByte)),
                    ("idle", .span(self.timeouts.idle)), ("total", .span(self.timeouts.total)),
                ])
            ),
            ("max_connections", .integer(self.maxConnections)),
            ("usage_in_stream", .boolean(self.options.asksForUsage)),
            ("output_cap_member", .string(self.options.outputCapMember.rawValue)),
            ("send_temperature", .boolean(self.options.sendsTemperature)), ("headers", self.headers.effective),
            ("spare_keys", .array(self.spareKeys.map { .secret($0) })), ("retry", self.effectiveRetry),
            ("breaker", self.effectiveBreaker), ("concurrency", self.effectiveConcurrency),
        ])
    }
}

extension [ProviderSettings.Header] {
    fileprivate var effective: EffectiveValue {
        .object(
            self.map { header in
                switch header.value {
                case .literal(let text): (header.name, .string(text))
                case .secret(let secret): (header.name, .secret(secret))
                }
            })
    }
}

extension ProviderSettings.KeyPlace {
    fileprivate var effective: EffectiveValue {
        switch self {
        case .header(let name, let scheme): .object([("header", .string(name)), ("scheme", .optional(scheme))])
        case .query(let name): .object([("query", .string(name))])
        }
    }
}

extension EffectiveValue {
    static func span(_ span: TimeSpan) -> EffectiveValue { .string(Units.text(of: span)) }

    /// Only where it is from and how long it is; never the secret.
    static func secret(_ secret: ResolvedSecret) -> EffectiveValue { .string("redacted, from \(secret.source)") }
}
