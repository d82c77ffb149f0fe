import GatewayTypes
import Routing

extension DocumentDecoder {
    private static let routesAdvice = "write a list such as [{provider: main, model: small}]"

    /// Routes in the order of trying; a list within the list is a group in which weights decide, and so is the whole
    /// list when each of its routes has a weight.
    func routes(_ node: YAMLNode, _ scope: TenantScope) -> RouteList? {
        guard let items = node.items("`routes`", advice: Self.routesAdvice, self.diagnostics) else { return nil }
        if items.isEmpty { self.diagnostics.error(node.position, "`routes` is an empty list", Self.routesAdvice) }
        var seen: [ProviderRoute] = []
        guard items.contains(where: { $0.isList }) else {
            let (routes, isWeighted) = self.routes(items, at: node, scope, &seen)
            return RouteList(routes, order: isWeighted && routes.count > 1 ? .byWeight : .asWritten)
        }
        return RouteList(groups: self.capped(items, "`routes`").map { self.group($0, scope, &seen) })
    }

    /// One step of a list with groups: a group, or a route by itself, whose weight would mean nothing.
    private func group(_ node: YAMLNode, _ scope: TenantScope, _ seen: inout [ProviderRoute]) -> [ProviderRoute] {
        guard case .sequence(let items) = node.content else {
            let (routes, isWeighted) = self.routes([node], at: node, scope, &seen)
            if isWeighted {
                self.diagnostics.error(
                    node.position, "a route outside the groups has a weight",
                    "remove it, or write the routes that share asks out as a list within the list")
            }
            return routes
        }
        if items.isEmpty { self.diagnostics.error(node.position, "a group of `routes` is empty", Self.routesAdvice) }
        return self.routes(items, at: node, scope, &seen).routes
    }

    private func routes(
        _ items: [YAMLNode], at node: YAMLNode, _ scope: TenantScope, _ seen: inout [ProviderRoute]
    ) -> (routes: [ProviderRoute], isWeighted: Bool) {
        var routes: [ProviderRoute] = []
        var weights = 0
        for item in self.capped(items, "`routes`") {
            guard let (route, hasWeight) = self.route(item, scope) else { continue }
            weights += hasWeight ? 1 : 0
            if seen.contains(where: { $0.provider == route.provider && $0.model == route.model }) {
                self.diagnostics.error(
                    item.position, "a second route to `\(route.provider)` with the same model", "write it once")
            }
            seen.append(route)
            routes.append(route)
        }
        if weights > 0 && weights < routes.count {
            self.diagnostics.error(
                node.position, "some of these routes have a weight and some have none",
                "write a weight at each to share asks out, or at none to try them in this order")
        }
        return (routes, weights > 0)
    }

    private func route(_ node: YAMLNode, _ scope: TenantScope) -> (ProviderRoute, hasWeight: Bool)? {
        let keys = ["provider", "model", "weight"]
        guard let reader = MappingReader(node, "a route", keys: keys, self.diagnostics) else { return nil }
        let provider = reader.required("provider", "write `provider:` and the name of a provider")?
            .reference("provider", to: scope.providers, definedUnder: "providers", self.diagnostics)
        // Nil as well for a provider that is wrong itself: whether it needs a model is then not known.
        let dialect = provider.flatMap { scope.dialects[ProviderName($0)] }
        let isDemo = dialect == .demo
        let advice = "write `model:` and the provider's name for it"
        let node = isDemo || dialect == nil ? reader.optional("model") : reader.required("model", advice)
        let model = node?.text("`model`", advice: advice, maxBytes: 200, self.diagnostics) ?? (isDemo ? "demo" : nil)
        let weight = reader.optional("weight")?.integer("`weight`", in: 1...1_000_000, self.diagnostics)
        guard let provider, let model else { return nil }
        return (
            ProviderRoute(provider: ProviderName(provider), model: ModelName(model), weight: weight ?? 1),
            reader.has("weight")
        )
    }
}

extension YAMLNode {
    fileprivate var isList: Bool {
        if case .sequence = self.content { return true }
        return false
    }
}
