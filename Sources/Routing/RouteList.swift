package import GatewayTypes

/// The routes of a task in the order that the operator meant; never empty.
package struct RouteList: Hashable, Sendable {
    package enum Order: String, Hashable, Sendable {
        /// The first route is asked first, the others are there for when it fails.
        case asWritten
        /// The first route is drawn by weight, and so is each one after it.
        case byWeight
    }

    /// All routes, group by group.
    package let routes: [ProviderRoute]
    package let order: Order
    /// Where each group lies in `routes`; empty when the whole list is one group.
    private let groups: [Range<Int>]

    /// Nil when there is no route.
    package init?(_ routes: [ProviderRoute], order: Order = .asWritten) {
        guard !routes.isEmpty else { return nil }
        self.routes = routes
        self.order = order
        self.groups = []
    }

    /// Groups that are tried one after the other; within each, weights decide. Nil when there is no route.
    package init?(groups: [[ProviderRoute]]) {
        let filled = groups.filter { !$0.isEmpty }
        guard !filled.isEmpty else { return nil }
        var ranges: [Range<Int>] = []
        var start = 0
        for group in filled {
            ranges.append(start..<(start + group.count))
            start += group.count
        }
        self.routes = filled.flatMap { $0 }
        self.order = ranges.allSatisfy { $0.count == 1 } ? .asWritten : .byWeight
        self.groups = ranges
    }

    /// The routes of each group, in the order of trying the groups.
    package var grouped: [[ProviderRoute]] {
        self.groups.isEmpty
            ? (self.order == .byWeight ? [self.routes] : self.routes.map { [$0] })
            : self.groups.map { Array(self.routes[$0]) }
    }

    /// All routes in the order to try them; the same number gives the same order.
    ///
    /// - Parameter choice: evenly distributed 64 bits; only their use here makes a choice random.
    package func ordered(by choice: UInt64) -> [ProviderRoute] {
        guard self.order == .byWeight, self.routes.count > 1 else { return self.routes }
        var numbers = SeededNumbers(seed: choice)
        var result: [ProviderRoute] = []
        result.reserveCapacity(self.routes.count)
        if self.groups.isEmpty { RouteList.draw(self.routes, into: &result, &numbers) }
        for group in self.groups { RouteList.draw(Array(self.routes[group]), into: &result, &numbers) }
        return result
    }

    /// Draws the order of one group.
    private static func draw(
        _ group: [ProviderRoute], into result: inout [ProviderRoute], _ numbers: inout SeededNumbers
    ) {
        var left = group
        while left.count > 1 {
            result.append(left.remove(at: RouteList.draw(from: left, number: numbers.next())))
        }
        result.append(contentsOf: left)
    }

    /// The place of the route in whose share of the weights the number falls.
    private static func draw(from routes: [ProviderRoute], number: UInt64) -> Int {
        var total: UInt64 = 0
        for route in routes { total &+= RouteList.share(route) }
        // The high half of the product is even over 0..<total; a remainder would lean towards the first routes.
        var rest = number.multipliedFullWidth(by: total).high
        for (index, route) in routes.enumerated() {
            let share = RouteList.share(route)
            if rest < share { return index }
            rest &-= share
        }
        return routes.count - 1
    }

    /// A weight as a share; kept below 2^32 so that no sum of routes overflows.
    private static func share(_ route: ProviderRoute) -> UInt64 {
        UInt64(max(1, min(route.weight, Int(UInt32.max))))
    }
}
