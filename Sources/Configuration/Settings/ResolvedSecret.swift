package import GatewayTypes

/// A secret of the configuration with the place it came from; only the place is ever shown.
package struct ResolvedSecret: Sendable, Hashable {
    package enum Source: Sendable, Hashable, CustomStringConvertible {
        case environment(String)
        case file(String)

        package var description: String {
            switch self {
            case .environment(let name): "environment variable \(name)"
            case .file(let path): "file \(path)"
            }
        }
    }

    package var source: Source
    package var value: Secret

    package init(source: Source, value: Secret) {
        self.source = source
        self.value = value
    }
}
