import Authentication
import GatewayTypes
import HTTPClient

extension DocumentDecoder {
    /// Settings of all issuers together.
    func identity(_ node: YAMLNode) -> IdentitySettings {
        let reader = MappingReader(node, "`identity`", keys: ["state_directory"], self.diagnostics)
        let advice = "write a folder that this account may write, such as /var/lib/askgate"
        let path = reader?.optional("state_directory")?
            .text("`state_directory`", advice: advice, maxBytes: 4096, self.diagnostics)
        return IdentitySettings(stateDirectory: path.map(self.references.resolve))
    }

    /// `true` takes the issuer's own metadata address, anything else is one.
    func discovery(_ node: YAMLNode, _ reader: MappingReader, _ issuer: MappingReader) -> [IssuerSettings.Key] {
        guard case .scalar("true", isPlain: true) = node.content else { return self.remote(.discovery, node, reader) }
        guard let issuer = issuer.optional("issuer"), case .scalar(let name, _) = issuer.content else { return [] }
        let url = RemoteKeySource.discoveryURL(of: ByteString(name))
        guard BoundedGet.isAllowed(url), !url.utf8.contains(0x3F), !url.utf8.contains(0x23) else {
            self.diagnostics.error(
                node.position, "the issuer is no https address, so its metadata cannot be found from it",
                "write `discovery: URL` and the address of its metadata")
            return []
        }
        return self.remote(.discovery, url, node.position, reader)
    }

    func remote(
        _ kind: RemoteKeySettings.Kind, _ node: YAMLNode, _ reader: MappingReader
    ) -> [IssuerSettings.Key] {
        let name = "`\(kind.rawValue)`"
        let other = kind == .discovery ? "`true`, or " : ""
        let advice = "write \(other)an address that begins with https://; http:// is for this machine only"
        guard let url = node.text(name, advice: advice, maxBytes: 2048, self.diagnostics) else { return [] }
        guard BoundedGet.isAllowed(url), !url.utf8.contains(0x23) else {
            self.diagnostics.error(node.position, "\(name) is no address that keys are fetched from", advice)
            return []
        }
        return self.remote(kind, url, node.position, reader)
    }

    private func remote(
        _ kind: RemoteKeySettings.Kind, _ url: String, _ position: SourcePosition, _ reader: MappingReader
    ) -> [IssuerSettings.Key] {
        func span(_ key: String, _ range: ClosedRange<TimeSpan>, _ usual: TimeSpan) -> TimeSpan {
            reader.optional(key)?.duration("`\(key)`", in: range, self.diagnostics) ?? usual
        }
        let settings = RemoteKeySettings(
            kind: kind, url: url,
            staleFor: span("stale_for", .seconds(60)...(.seconds(30 * 86_400)), .seconds(86_400)),
            cooldown: span("cooldown", .seconds(1)...(.seconds(3600)), .seconds(30)),
            timeout: span("timeout", .milliseconds(100)...(.seconds(30)), .seconds(5)),
            isRequired: reader.optional("required")?.boolean("`required`", self.diagnostics) ?? true,
            certificateFile: reader.optional("ca_file").flatMap { self.references.keyFile($0, "`ca_file`")?.path })
        return [IssuerSettings.Key(source: .remote(settings), position: position)]
    }
}
