import GatewayTypes
import Routing
import Testing

@Suite("Groups of routes")
struct RouteGroupTests {
    private static func route(_ name: String, _ weight: Int = 1) -> ProviderRoute {
        ProviderRoute(provider: ProviderName(name), model: "m", weight: weight)
    }

    private static let groups = [[route("a", 3), route("b", 1)], [route("c")], [route("d"), route("e")]]

    @Test func groupsStayInOrderWhateverIsDrawnWithinThem() throws {
        let list = try #require(RouteList(groups: Self.groups))
        for choice in UInt64(0)..<200 {
            let order = list.ordered(by: choice).map(\.provider.string)
            #expect(Set(order[0..<2]) == ["a", "b"] && order[2] == "c" && Set(order[3..<5]) == ["d", "e"])
            #expect(order == list.ordered(by: choice).map(\.provider.string))
        }
    }

    @Test func weightsShareTheFirstPlaceWithinAGroup() throws {
        let list = try #require(RouteList(groups: Self.groups))
        let first = (UInt64(0)..<4000).count { choice in
            list.ordered(by: choice &* 0x9E37_79B9_7F4A_7C15).first?.provider == "a"
        }
        #expect((2800...3200).contains(first))
    }

    @Test func emptyGroupsCountForNothing() throws {
        #expect(RouteList(groups: []) == nil && RouteList(groups: [[], []]) == nil)
        let list = try #require(RouteList(groups: [[], [Self.route("a")], []]))
        #expect(list.ordered(by: 9).map(\.provider) == ["a"] && list.order == .asWritten)
    }

    @Test func aListWithoutGroupsIsOneOrAsManyAsItHasRoutes() throws {
        let routes = [Self.route("a", 2), Self.route("b", 1)]
        #expect(try #require(RouteList(routes, order: .byWeight)).grouped == [routes])
        #expect(try #require(RouteList(routes)).grouped == routes.map { [$0] })
        #expect(try #require(RouteList(groups: Self.groups)).grouped == Self.groups)
    }
}
