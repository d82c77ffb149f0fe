package import GatewayTypes

/// Where an issuer publishes its keys, and how long they are believed.
package struct RemoteKeySource: Hashable, Sendable {
    /// Where the keys are; https, or http on this machine.
    package enum Location: Hashable, Sendable {
        /// The key set itself.
        case jwks(url: String)
        /// A metadata document that names it, of OpenID Connect Discovery or RFC 8414.
        case discovery(url: String)
    }

    /// The metadata's `issuer` has to be this, byte by byte.
    package var issuer: ByteString
    package var location: Location
    /// A PEM file of trusted roots in place of the system's.
    package var certificateFile: String?
    /// How long a set is used after it was last fetched, while every fetch fails.
    package var staleFor = TimeSpan.seconds(86_400)
    /// Least time between the end of a fetch and the next one that a token causes.
    package var cooldown = TimeSpan.seconds(30)
    /// For one document.
    package var timeout = TimeSpan.seconds(5)
    /// Longest wait of a request for a fetch.
    package var patience = TimeSpan.seconds(2)
    /// Least time between fetches in the background, whatever the answer says of its freshness.
    package var leastLifetime = TimeSpan.seconds(60)

    package init(issuer: ByteString, location: Location) {
        self.issuer = issuer
        self.location = location
    }

    /// The address for logs: without user and query, which may hold secrets.
    var shownAddress: String {
        let url: String
        switch self.location {
        case .jwks(let address), .discovery(let address): url = address
        }
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        guard let scheme = bare.firstRange(of: "://") else { return String(bare) }
        let authority = bare[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(bare) }
        return String(bare[..<scheme.upperBound] + bare[bare.index(after: at)...])
    }

    /// Where OpenID Connect Discovery §4 puts an issuer's metadata.
    package static func discoveryURL(of issuer: ByteString) -> String {
        var base = issuer.string
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        return base + "/.well-known/openid-configuration"
    }
}
