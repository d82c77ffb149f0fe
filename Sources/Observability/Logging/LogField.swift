package import GatewayTypes

/// A value of an operator's log line: a number, an identifier, a member of a closed set or a constant. There is no
/// way to pass a text that a client or a provider wrote.
package struct LogField: Sendable {
    enum Value: Sendable {
        case int(Int64)
        case double(Double)
        case bool(Bool)
        case duration(TimeSpan)
        case request(RequestID)
        case constant(StaticString)
        case text(ByteString, limit: Int)
    }

    let key: StaticString
    let value: Value

    package static func int(_ key: StaticString, _ value: Int) -> LogField {
        .init(key: key, value: .int(Int64(value)))
    }

    package static func double(_ key: StaticString, _ value: Double) -> LogField {
        .init(key: key, value: .double(value))
    }

    package static func bool(_ key: StaticString, _ value: Bool) -> LogField { .init(key: key, value: .bool(value)) }

    /// Written in milliseconds.
    package static func duration(_ key: StaticString, _ value: TimeSpan) -> LogField {
        .init(key: key, value: .duration(value))
    }

    package static func request(_ value: RequestID) -> LogField { .init(key: "request_id", value: .request(value)) }

    package static func constant(_ key: StaticString, _ value: StaticString) -> LogField {
        .init(key: key, value: .constant(value))
    }

    /// A name of the configuration or a subject. Cut to 255 bytes.
    package static func identifier(_ key: StaticString, _ value: some Identifier) -> LogField {
        .init(key: key, value: .text(value.bytes, limit: 255))
    }

    /// The bounded name of a failure or a state.
    package static func label(_ key: StaticString, _ value: some MetricLabel) -> LogField {
        .init(key: key, value: .text(ByteString(value.metricLabel), limit: 255))
    }

    /// What the operator wrote or is told about it: a path, an address, where a configuration is wrong. Cut to 1,024
    /// bytes. Never for anything that came over a socket, but for addresses that the operator's own store names.
    package static func configuration(_ key: StaticString, _ value: String) -> LogField {
        .init(key: key, value: .text(ByteString(value), limit: 1024))
    }
}

extension [UInt8] {
    /// Appends the value as JSON.
    mutating func append(_ value: LogField.Value) {
        switch value {
        case .int(let number): Decimal.append(Int(number), to: &self)
        case .double(let number):
            self.append(contentsOf: number.isFinite ? number.description.utf8 : "null".utf8)
        case .bool(let flag): self.append(literal: flag ? "true" : "false")
        case .duration(let span): self.append(fixed: span.nanoseconds / 1000, places: 3)
        case .request(let request):
            self.append(literal: "\"")
            request.append(to: &self)
            self.append(literal: "\"")
        case .constant(let text): self.append(quoted: ByteString("\(text)"), limit: 1024)
        case .text(let text, let limit): self.append(quoted: text, limit: limit)
        }
    }
}
