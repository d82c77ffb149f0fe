/// A configuration that was checked as a whole and found good.
package struct LoadedConfiguration: Sendable {
    package var document: ConfigurationDocument
    /// What the operator should look at all the same.
    package var warnings: [ConfigurationProblem]
}

/// Reads, checks and completes a configuration; a file with any error gives nothing but its errors.
package enum ConfigurationLoader {
    /// Loads a file of this machine; relative paths in it begin at its folder.
    package static func load(
        path: String, environment: [String: String]
    ) throws(ConfigurationFailure) -> LoadedConfiguration {
        let sources = ConfigurationSources.machine(environment: environment)
        switch sources.read(path, YAMLLimits().size) {
        case .success(let file):
            return try self.load(
                text: file.bytes, name: path, directory: self.directory(of: path), sources: sources)
        case .failure(let problem):
            throw .unreadable(
                ConfigurationProblem(
                    file: path, message: "the file \(problem.rawValue)", advice: "name a configuration file"))
        }
    }

    /// Loads a text.
    ///
    /// - Parameters:
    ///   - name: how problems name the file.
    ///   - directory: where relative paths begin; empty is the working directory.
    package static func load(
        text: [UInt8], name: String, directory: String = "", sources: ConfigurationSources,
        limits: YAMLLimits = YAMLLimits()
    ) throws(ConfigurationFailure) -> LoadedConfiguration {
        let diagnostics = Diagnostics(file: name)
        let root: YAMLNode
        do throws(YAMLFailure) {
            root = try YAMLReader.read(text, limits: limits, diagnostics: diagnostics)
        } catch {
            diagnostics.error(error.position, error.message, error.advice)
            throw .malformed(diagnostics.sorted)
        }
        let references = ReferenceReader(sources: sources, directory: directory, diagnostics: diagnostics)
        let decoder = DocumentDecoder(diagnostics: diagnostics, references: references)
        guard let document = decoder.document(root), !diagnostics.hasErrors else { throw .invalid(diagnostics.sorted) }
        return LoadedConfiguration(document: document, warnings: diagnostics.sorted)
    }

    /// The folder part of a path; empty when there is none.
    static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
