/// Bounds on what a configuration file may take; a file of a thousand tenants stays far below them.
package struct YAMLLimits: Sendable {
    /// Bytes of the file.
    package var size = 4 * 1024 * 1024
    /// Mappings and lists inside each other.
    package var depth = 24
    /// Values in the file, each alias counted as everything it stands for.
    package var nodes = 200_000
    /// Uses of an anchor.
    package var aliases = 100

    package init() {}
}
