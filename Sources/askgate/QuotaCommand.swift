import GatewayTypes
import JOSE
import JSON

/// `askgate quota`: what the admin API does, from a shell.
struct QuotaCommand {
    /// Exit statuses besides 0; scripts rely on them.
    enum Status {
        /// The gateway refused it; the message says why.
        static let refused: Int32 = 1
        /// Somebody has changed the holder since the version that was named.
        static let conflict: Int32 = 2
        /// The command line makes no sense (`EX_USAGE`).
        static let usage: Int32 = 64
        /// Nobody answers, or the gateway's store does not (`EX_UNAVAILABLE`).
        static let unreachable: Int32 = 69
    }

    /// What to ask of the admin API.
    struct Order {
        var method = "GET"
        var path: String
        var body: [UInt8] = []
        var version: Int?
        /// Writes the answer for people.
        var show: (JSONValue) -> String
    }

    static func run(_ options: inout Options) async -> Int32 {
        await self.run(&options, command: "quota", example: "show", self.order)
    }

    /// Carries out a command of operators.
    /// - Parameters:
    ///   - example: one of its verbs.
    ///   - order: from the verb and its options to a call.
    static func run(
        _ options: inout Options, command: String, example: String,
        _ order: (String, inout Options) throws(UsageFailure) -> Order
    ) async -> Int32 {
        let showsJSON = options.flag("--json")
        do throws(UsageFailure) {
            // Help needs no token.
            if options.asksForHelp { throw UsageFailure.help }
            // Its options come first: their values are no plain words.
            let address = try AdminAddress(&options)
            guard let verb = options.next() else { throw UsageFailure("\(command) needs a verb, such as \(example)") }
            options.enter(verb)
            let order = try order(verb, &options)
            try options.finish()
            let client = try address.client(environment: Environment.current)
            return await self.carryOut(order, client, showsJSON: showsJSON)
        } catch {
            if error.isHelp {
                Terminal.show(Help.text(for: command))
                return 0
            }
            Terminal.complain("askgate: \(error.message)\nTry `askgate help \(command)`.")
            return Status.usage
        }
    }

    private static func order(_ verb: String, _ options: inout Options) throws(UsageFailure) -> Order {
        switch verb {
        case "show": try self.show(&options)
        case "set": try self.set(&options)
        case "clear": try self.clear(&options)
        case "block": try self.block(&options)
        case "unblock": try self.unblock(&options)
        case "reset": try self.reset(&options)
        case "leases": try self.leases(&options)
        case "audit": try self.audit(&options)
        case "give-plan": try self.givePlan(&options)
        case "clear-plan": try self.clearPlan(&options)
        default: throw UsageFailure("quota has no verb \"\(verb)\"")
        }
    }

    private static func carryOut(_ order: Order, _ client: AdminClient, showsJSON: Bool) async -> Int32 {
        let answer: AdminAnswer
        do throws(UnreachableFailure) {
            answer = try await client.call(order.method, order.path, body: order.body, version: order.version)
        } catch {
            Terminal.complain("askgate: nobody answers at \(client.url) (\(error.reason))")
            return Status.unreachable
        }
        guard let json = answer.json, json.kind == .object else {
            Terminal.complain("askgate: what answers at \(client.url) is not the admin API (status \(answer.status))")
            return Status.refused
        }
        // Words for an app's user, which the admin API has none of.
        if answer.status != 200, json["message"] != nil, json["requestId"] != nil {
            Terminal.complain(
                "askgate: what answers at \(client.url) looks like the api listener; name the admin listener with "
                    + "--admin, ASKGATE_ADMIN_URL or --config")
            return Status.refused
        }
        if showsJSON { Terminal.show(String(decoding: answer.body, as: UTF8.self)) }
        guard answer.status == 200 else {
            Terminal.complain("askgate: \(QuotaTables.problem(json))")
            return answer.status == 412
                ? Status.conflict : answer.status == 503 ? Status.unreachable : Status.refused
        }
        if !showsJSON { Terminal.show(order.show(json)) }
        return 0
    }
}
