package import GatewayTypes

/// Why an ask has no resolved task.
package enum RoutingFailure: Error, Hashable, Sendable, MetricLabel {
    /// The tenant has no such task or agent.
    case unknownTask
    /// No agent was named, and the tenant has no default one.
    case noDefaultAgent
    /// The principal's plan is not one of the tenant's; an operator's override may outlive a plan.
    case unknownPlan
    case taskNotInPlan
    /// The task asks for a scope that the token does not carry.
    case insufficientScope(required: ByteString)
    case toneNotAllowed
    /// Characters of the trimmed text.
    case textTooShort(minimum: Int)
    case textTooLong(maximum: Int)
    /// Over the bound in bytes, which is looked at before any Character is counted.
    case textTooLarge(maxBytes: Int)
    /// A conversation holds a role that the task does not take.
    case roleNotAllowed(ChatRules.Role)
    /// Messages of a conversation.
    case tooManyMessages(maximum: Int)

    package var metricLabel: String {
        switch self {
        case .unknownTask: "unknown_task"
        case .noDefaultAgent: "no_default_agent"
        case .unknownPlan: "unknown_plan"
        case .taskNotInPlan: "task_not_in_plan"
        case .insufficientScope: "insufficient_scope"
        case .toneNotAllowed: "tone_not_allowed"
        case .textTooShort: "text_too_short"
        case .textTooLong: "text_too_long"
        case .textTooLarge: "text_too_large"
        case .roleNotAllowed: "role_not_allowed"
        case .tooManyMessages: "too_many_messages"
        }
    }

    /// The code that clients see.
    package var code: ErrorCode {
        switch self {
        case .unknownTask, .noDefaultAgent: .unknownTask
        case .unknownPlan, .taskNotInPlan: .taskNotInPlan
        case .insufficientScope: .insufficientScope
        case .toneNotAllowed, .roleNotAllowed, .tooManyMessages: .invalidRequest
        case .textTooShort: .textTooShort
        case .textTooLong, .textTooLarge: .textTooLong
        }
    }
}
