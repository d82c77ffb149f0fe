import GatewayTypes

extension AccessRecord {
    /// Appends the record as one line of JSON, line feed included.
    ///
    /// Every line has every member, in one order; what is not known is null. Durations are milliseconds with up to
    /// three decimals.
    package func append(to output: inout [UInt8]) {
        output.append(literal: #"{"time":""#)
        output.append(timestamp: self.time)
        output.append(literal: #"","request_id":""#)
        self.requestID.append(to: &output)
        output.append(literal: "\"")
        self.appendNames(to: &output)
        output.append(route: self.route, outcome: self.outcome, refusal: self.refusal, status: self.status)
        self.appendDurations(to: &output)
        self.appendSizes(to: &output)
        output.append(literal: #","attempts":"#, number: self.attempts)
        if let failure = self.providerFailure {
            output.append(literal: #","provider_failure":""#)
            output.append(contentsOf: failure.name.utf8)
            output.append(literal: "\"")
        } else {
            output.append(literal: #","provider_failure":null"#)
        }
        output.append(literal: self.isStream ? #","stream":true"# : #","stream":false"#)
        output.append(literal: self.isCancelled ? #","cancelled":true"# : #","cancelled":false"#)
        switch self.cache {
        case .hit: output.append(literal: #","cache":"hit""#)
        case .miss: output.append(literal: #","cache":"miss""#)
        case .shared: output.append(literal: #","cache":"shared""#)
        case nil: output.append(literal: #","cache":null"#)
        }
        output.append(trace: self.trace)
        output.append(literal: "}\n")
    }

    private func appendNames(to output: inout [UInt8]) {
        output.append(member: #","tenant":"#, self.tenant?.bytes)
        output.append(member: #","subject":"#, self.subject?.bytes)
        output.append(member: #","plan":"#, self.plan?.bytes)
        output.append(member: #","task":"#, self.task?.bytes)
        output.append(member: #","provider":"#, self.provider?.bytes)
        output.append(member: #","model":"#, self.model?.bytes)
    }

    private func appendDurations(to output: inout [UInt8]) {
        output.append(literal: #","total_ms":"#, milliseconds: self.total)
        output.append(literal: #","overhead_ms":"#, milliseconds: self.overhead)
        output.append(literal: #","first_token_ms":"#, milliseconds: self.firstToken)
    }

    private func appendSizes(to output: inout [UInt8]) {
        output.append(literal: #","text_length":"#, number: self.textLength)
        output.append(literal: #","input_tokens":"#, number: self.usage?.input)
        output.append(literal: #","output_tokens":"#, number: self.usage?.output)
        output.append(literal: #","total_tokens":"#, number: self.usage?.total)
        switch self.usage?.source {
        case .provider: output.append(literal: #","usage_source":"provider""#)
        case .estimated: output.append(literal: #","usage_source":"estimated""#)
        case nil: output.append(literal: #","usage_source":null"#)
        }
    }
}

extension [UInt8] {
    /// Appends a member's comma and name, given as they are to stand there, and an identifier or null.
    mutating func append(member name: StaticString, _ identifier: ByteString?) {
        self.append(literal: name)
        if let identifier { self.append(quoted: identifier) } else { self.append(literal: "null") }
    }

    /// Appends how a request ended: the members from `route` to `status`.
    mutating func append(route: StaticString?, outcome: Outcome, refusal: RefusalReason?, status: Int?) {
        self.append(literal: #","route":"#)
        if let route {
            self.append(literal: "\"")
            self.append(literal: route)
            self.append(literal: "\"")
        } else {
            self.append(literal: "null")
        }
        self.append(literal: #","outcome":""#)
        self.append(contentsOf: outcome.metricLabel.utf8)
        self.append(literal: #"","refusal":"#)
        if let refusal {
            self.append(literal: "\"")
            self.append(contentsOf: refusal.name.utf8)
            self.append(literal: "\",")
        } else {
            self.append(literal: "null,")
        }
        self.append(literal: #""status":"#, number: status)
    }

    mutating func append(trace: TraceID?) {
        guard let trace else { return self.append(literal: #","trace_id":null"#) }
        self.append(literal: #","trace_id":""#)
        trace.append(to: &self)
        self.append(literal: "\"")
    }
}
