import GatewayTesting
import JSON
import Testing

/// The operators of the gateway under test.
enum Operators {
    static let boss = "ago_test_boss"
    static let viewer = "ago_test_eye"
    /// Bound to the tenant `acme`.
    static let bound = "ago_test_bound"

    static let yaml =
        "{boss: {role: operator, token_sha256: 088980a2391e87e847a8c6c9f552f41b141090700c0c622ea8ac1b46a3d65476}, "
        + "eye: {role: viewer, token_sha256: 2df19f865e4e7b4e39b0e3d3cba769122641e067ac2dee2a8dcae5ce81b1aaeb}, "
        + "bound: {role: operator, tenants: [acme], "
        + "token_sha256: ac4d583a0232651bc56d58adb58687a87560354adab3ae9a3e92845b78ee66e7}}"
}

extension TestGateway {
    /// Calls the admin API and expects it to do what it is told.
    @discardableResult
    func steer(
        _ method: String, _ path: String, _ body: String = "", status: Int = 200, token: String = Operators.boss,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
        let client = try RawClient(port: self.process.adminPort)
        defer { client.close() }
        try client.request(
            method, "/admin/v1" + path,
            headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
            body: Array(body.utf8))
        let response = try #require(try client.response(), sourceLocation: sourceLocation)
        #expect(response.status == status, "\(response.text)", sourceLocation: sourceLocation)
        return try #require(response.json, sourceLocation: sourceLocation)
    }

    /// Sets an override of a caller of `acme`.
    func override(_ limit: String, of caller: Caller, to quantity: Int, more: String = "") throws {
        try self.steer(
            "PUT", "/tenants/acme/subjects/\(caller.subject)/override",
            #"{"limit":"\#(limit)","quantity":\#(quantity),"reason":"test"\#(more)}"#)
    }

    /// The holder of a caller of `acme`, as a path.
    func holder(_ caller: Caller) -> String { "/tenants/acme/subjects/\(caller.subject)" }
}
