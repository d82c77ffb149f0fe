import GatewayTypes
import HTTPCodec
import JSON
import Quota

/// `GET /v1/quota`: the caller's plan and, for each limit, what it allows, what is left and when more comes.
enum QuotaAnswer {
    static func body(plan: PlanName, standing: Standing, dayTurn: DayTurn?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("plan")
        json.string(plan.string)
        json.name("blocked")
        json.bool(standing.isBlocked)
        json.name("limits")
        json.beginArray()
        for state in standing.states {
            json.beginObject()
            json.name("name")
            json.string(state.limit.kind.rawValue)
            json.name("scope")
            json.string(state.limit.scope.rawValue)
            json.name("limit")
            json.integer(state.limit.quantity)
            json.name("used")
            json.integer(state.used)
            json.name("remaining")
            json.integer(state.remaining)
            json.name("resetSeconds")
            json.integer(state.resetSeconds)
            dayTurn?.append(state, to: &json)
            json.name("observe")
            json.bool(state.limit.observe)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}
