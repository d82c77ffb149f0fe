import GatewayTypes
import JSON

/// `GET /v1/models`: the tasks and agents that the caller may name as a model.
enum ModelsAnswer {
    static func list(_ tasks: [TaskName], of tenant: TenantID) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.name("object")
        json.string("list")
        json.name("data")
        json.beginArray()
        for task in tasks { self.write(task, of: tenant, to: &json) }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    static func one(_ task: TaskName, of tenant: TenantID) -> [UInt8] {
        var json = JSONWriter()
        self.write(task, of: tenant, to: &json)
        return json.bytes
    }

    private static func write(_ task: TaskName, of tenant: TenantID, to json: inout JSONWriter) {
        json.beginObject()
        json.name("id")
        json.string(task.string)
        json.name("object")
        json.string("model")
        // Client libraries want a number; a task is as old as the configuration, which tells no date.
        json.name("created")
        json.integer(0)
        json.name("owned_by")
        json.string(tenant.string)
        json.endObject()
    }
}
