/// Keeps equal prompts once: many tenants use the same built-in tasks. Lives while a configuration is compiled.
package struct PromptPool {
    private var known: Set<[UInt8]> = []

    package init() {}

    /// The same bytes, in the storage of the first prompt that had them.
    mutating func shared(_ bytes: [UInt8]) -> [UInt8] { self.known.insert(bytes).memberAfterInsert }
}
