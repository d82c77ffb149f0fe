package import GatewayTypes

/// The one line of metadata that a follow or a cancel of a question leaves behind; no ask, so nothing is charged.
///
/// What holds for `AccessRecord` holds here: no field can hold a text, an answer, a key, a header or a cookie.
package struct FollowRecord: Sendable {
    package enum Kind: Sendable {
        case follow
        case cancel
    }

    package var kind: Kind
    /// When the request began.
    package var time: WallTime
    package var requestID: RequestID
    /// The question that was asked for, by a caller who is known.
    package var question: RequestID?
    package var tenant: TenantID?
    /// As in the record of an ask.
    package var subject: SubjectID?
    package var plan: PlanName?
    /// The route's template, never the path that was asked for.
    package var route: StaticString?
    package var outcome: Outcome
    /// The HTTP status that was sent; nil when nothing was.
    package var status: Int?
    /// From the first byte of the request to the last of the answer.
    package var total: TimeSpan
    /// The question was not held here: another instance was asked, or found gone.
    package var isElsewhere = false
    package var trace: TraceID?
    /// Why the caller was not let in; nil for one who was.
    package var refusal: RefusalReason?

    package init(_ kind: Kind, time: WallTime, requestID: RequestID, outcome: Outcome, total: TimeSpan) {
        self.kind = kind
        self.time = time
        self.requestID = requestID
        self.outcome = outcome
        self.total = total
    }

    /// Appends the record as one line of JSON, line feed included; every line has every member, in one order. `kind`
    /// tells it from the record of an ask, which has none.
    package func append(to output: inout [UInt8]) {
        output.append(literal: #"{"time":""#)
        output.append(timestamp: self.time)
        output.append(literal: self.kind == .follow ? #"","kind":"follow""# : #"","kind":"cancel""#)
        output.append(literal: #","request_id":""#)
        self.requestID.append(to: &output)
        output.append(literal: #"","question_id":"#)
        if let question = self.question {
            output.append(literal: "\"")
            question.append(to: &output)
            output.append(literal: "\"")
        } else {
            output.append(literal: "null")
        }
        output.append(member: #","tenant":"#, self.tenant?.bytes)
        output.append(member: #","subject":"#, self.subject?.bytes)
        output.append(member: #","plan":"#, self.plan?.bytes)
        output.append(route: self.route, outcome: self.outcome, refusal: self.refusal, status: self.status)
        output.append(literal: #","total_ms":"#, milliseconds: self.total)
        output.append(literal: self.isElsewhere ? #","elsewhere":true"# : #","elsewhere":false"#)
        output.append(trace: self.trace)
        output.append(literal: "}\n")
    }
}
