import GatewayTypes

/// Something that a reload asked for and only a restart can do.
package enum RestartOnlyChange: Hashable, Sendable, CustomStringConvertible {
    case apiListener(from: ListenerAddress?, to: ListenerAddress?)
    case adminListener(from: ListenerAddress?, to: ListenerAddress?)
    case internalListener(from: HopSettings?, to: HopSettings?)
    /// Nil means one for each core.
    case loops(from: Int?, to: Int?)
    case store(from: StoreSettings, to: StoreSettings)
    case accessLog(from: LogSettings.Sink, to: LogSettings.Sink)
    /// Keys below `http`.
    case http([String])
    case questionKeys(from: Int, to: Int)
    /// Nil means none.
    case stateDirectory(from: String?, to: String?)

    package var description: String {
        switch self {
        case .apiListener(let old, let new):
            "listeners.api: \(Self.text(old)) to \(Self.text(new)); restart to change a listener"
        case .adminListener(let old, let new):
            "listeners.admin: \(Self.text(old)) to \(Self.text(new)); restart to change a listener"
        case .internalListener(let old, let new):
            "listeners.internal: \(Self.text(old)) to \(Self.text(new)); restart to change a listener"
        case .loops(let old, let new):
            "loops: \(Self.text(old)) to \(Self.text(new)); restart to change the number of loops"
        case .accessLog(let old, let new):
            "log.access: \(Self.text(old)) to \(Self.text(new)); restart to change where access records go"
        case .http(let keys):
            "\(keys.map { "http.\($0)" }.joined(separator: ", ")): restart to change \(keys.count == 1 ? "it" : "them")"
        case .questionKeys(let old, let new):
            "questions.tenant_keys: \(old) to \(new); restart to change how many keys are remembered"
        case .stateDirectory(let old, let new):
            "identity.state_directory: \(old ?? "none") to \(new ?? "none"); restart to change where keys are kept"
        case .store(let old, let new):
            old.kind == new.kind
                ? "store: another \(new.kind); restart to change the store"
                : "store.kind: \(old.kind) to \(new.kind); restart to change the store"
        }
    }

    private static func text(_ listener: ListenerAddress?) -> String { listener?.description ?? "none" }

    private static func text(_ hop: HopSettings?) -> String {
        guard let hop else { return "none" }
        return hop.listener.description + (hop.advertised.map { ", advertised as \($0)" } ?? "")
    }

    private static func text(_ sink: LogSettings.Sink) -> String {
        switch sink {
        case .stdout: "stdout"
        case .stderr: "stderr"
        case .file(let path): path
        case .none: "none"
        }
    }

    private static func text(_ loops: Int?) -> String { loops.map(String.init) ?? "one per core" }
}

extension ConfigurationDocument {
    /// What of a new configuration cannot be had without a restart; empty when a reload can take all of it.
    package func restartOnlyChanges(to new: ConfigurationDocument) -> [RestartOnlyChange] {
        var changes: [RestartOnlyChange] = []
        if self.listeners.api != new.listeners.api {
            changes.append(.apiListener(from: self.listeners.api, to: new.listeners.api))
        }
        if self.listeners.admin != new.listeners.admin {
            changes.append(.adminListener(from: self.listeners.admin, to: new.listeners.admin))
        }
        if self.listeners.hop?.withoutSecrets != new.listeners.hop?.withoutSecrets {
            changes.append(.internalListener(from: self.listeners.hop, to: new.listeners.hop))
        }
        if self.loops != new.loops { changes.append(.loops(from: self.loops, to: new.loops)) }
        if self.store.withoutLogins != new.store.withoutLogins {
            changes.append(.store(from: self.store, to: new.store))
        }
        if self.log.access != new.log.access {
            changes.append(.accessLog(from: self.log.access, to: new.log.access))
        }
        let http = self.http.restartOnlyKeys(changedIn: new.http)
        if !http.isEmpty { changes.append(.http(http)) }
        if self.questions.tenantKeys != new.questions.tenantKeys {
            changes.append(.questionKeys(from: self.questions.tenantKeys, to: new.questions.tenantKeys))
        }
        if self.identity.stateDirectory != new.identity.stateDirectory {
            changes.append(
                .stateDirectory(from: self.identity.stateDirectory, to: new.identity.stateDirectory))
        }
        return changes
    }
}

extension HTTPSettings {
    /// What the listener was made with, and what a drain begins with; the rest is read anew for each request.
    fileprivate func restartOnlyKeys(changedIn new: HTTPSettings) -> [String] {
        let numbers: [(String, KeyPath<HTTPSettings, Int>)] = [
            ("limits.request_line", \.maxRequestLine), ("limits.header_fields", \.maxHeaderFields),
            ("limits.header_bytes", \.maxHeaderBytes), ("limits.header_name", \.maxHeaderName),
            ("limits.header_value", \.maxHeaderValue), ("limits.body_rate", \.minBodyRate),
            ("limits.connections", \.maxConnections),
        ]
        let spans: [(String, KeyPath<HTTPSettings, TimeSpan>)] = [
            ("timeouts.head", \.headTimeout), ("timeouts.idle", \.idleTimeout),
            ("timeouts.body_grace", \.bodyGrace), ("timeouts.write_stall", \.writeStallTimeout),
            ("drain.delay", \.drainDelay), ("drain.deadline", \.drainDeadline),
        ]
        return numbers.filter { self[keyPath: $0.1] != new[keyPath: $0.1] }.map(\.0)
            + spans.filter { self[keyPath: $0.1] != new[keyPath: $0.1] }.map(\.0)
    }
}
