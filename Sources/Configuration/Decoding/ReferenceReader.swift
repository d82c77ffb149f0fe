import GatewayTypes

/// Fetches what the configuration only refers to: secrets and key files.
struct ReferenceReader {
    let sources: ConfigurationSources
    /// The folder of the configuration file, which relative paths begin at; empty is the working directory.
    let directory: String
    let diagnostics: Diagnostics

    private static let maxSecretBytes = 65_536
    private static let maxKeyFileBytes = 262_144
    private static let advice = "write `{env: NAME}` or `{file: PATH}`"

    /// The path of a file as the process has to open it.
    func resolve(_ path: String) -> String {
        path.utf8.first == 0x2F || self.directory.isEmpty ? path : "\(self.directory)/\(path)"
    }

    /// A secret by `{env: NAME}` or `{file: PATH}`. A literal is an error that does not repeat it.
    func secret(_ node: YAMLNode, _ what: String) -> ResolvedSecret? {
        guard case .mapping(let entries) = node.content else {
            self.diagnostics.error(
                node.position, "\(what) is written into the file, where secrets never stand", Self.advice)
            return nil
        }
        let known = entries.filter { $0.key == "env" || $0.key == "file" }
        guard known.count == 1, entries.count == 1, let entry = known.first else {
            self.diagnostics.error(node.position, "\(what) needs exactly one of `env` and `file`", Self.advice)
            return nil
        }
        let secret = entry.key == "env" ? self.variable(entry.value, what) : self.file(entry.value, what)
        guard let secret, !secret.value.isEmpty else {
            if let secret {
                self.diagnostics.error(
                    entry.value.position, "\(what) is empty in \(secret.source)", "put the secret there")
            }
            return nil
        }
        return secret
    }

    private func variable(_ node: YAMLNode, _ what: String) -> ResolvedSecret? {
        let advice = "write the name of an environment variable, such as MAIN_KEY"
        guard let name = node.text("`env`", advice: advice, self.diagnostics) else { return nil }
        guard Self.isVariableName(name) else {
            // Not shown: it may be the secret itself, pasted in the wrong place.
            self.diagnostics.error(node.position, "`env` does not hold the name of a variable", advice)
            return nil
        }
        guard let value = self.sources.environment[name] else {
            self.diagnostics.error(
                node.position, "the environment variable \(name) is not set", "set it before the program starts")
            return nil
        }
        return ResolvedSecret(source: .environment(name), value: Secret(value))
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !Digits.isDigit(first), name.utf8.count <= 128 else { return false }
        return name.utf8.allSatisfy {
            Digits.isDigit($0) || $0 == 0x5F || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        }
    }

    private func file(_ node: YAMLNode, _ what: String) -> ResolvedSecret? {
        guard let (path, file) = self.content(node, "`file`", maxBytes: Self.maxSecretBytes) else { return nil }
        if file.isReadableByAll {
            self.diagnostics.warning(
                node.position, "\(what) stands in \(path), which every account of this machine may read",
                "run `chmod o-r` on it")
        }
        return ResolvedSecret(source: .file(path), value: Secret(Self.withoutLineEnd(file.bytes)))
    }

    /// Editors end a file with a line break that is no part of the secret.
    private static func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.last == 0x0A else { return bytes }
        let rest = bytes.dropLast()
        return Array(rest.last == 0x0D ? rest.dropLast() : rest)
    }

    /// A file of public keys.
    func keyFile(_ node: YAMLNode, _ what: String) -> (path: String, bytes: [UInt8])? {
        guard let (path, file) = self.content(node, what, maxBytes: Self.maxKeyFileBytes) else { return nil }
        return (path, file.bytes)
    }

    private func content(_ node: YAMLNode, _ what: String, maxBytes: Int) -> (String, ConfigurationSources.File)? {
        let advice = "write the path of a file, relative to this one"
        guard let written = node.text(what, advice: advice, maxBytes: 4096, self.diagnostics) else { return nil }
        let path = self.resolve(written)
        switch self.sources.read(path, maxBytes) {
        case .success(let file): return (path, file)
        case .failure(let problem):
            self.diagnostics.error(
                node.position, "\(what) \(problem.rawValue): \(quoted(path))",
                problem == .tooLarge ? "write a file of at most \(maxBytes) bytes" : advice)
            return nil
        }
    }
}
