import GatewayTypes
import Glibc

extension DocumentDecoder {
    static let noTLS = MappingReader.Refusal(
        message: "this program does not end TLS itself",
        advice: "remove it and put a proxy that ends TLS in front of the listener")

    func listeners(_ reader: MappingReader) -> ListenerSettings {
        var listeners = ListenerSettings()
        let advice = "write `api: {address: 127.0.0.1, port: 8080}`"
        guard let node = reader.required("listeners", "write `listeners:` and below it \(advice.dropFirst(6))"),
            let reader = MappingReader(node, "`listeners`", keys: ["api", "admin", "internal"], self.diagnostics)
        else { return listeners }
        if !reader.has("api") && !reader.has("admin") {
            self.diagnostics.error(node.position, "there is no listener", advice)
        }
        listeners.api = reader.optional("api").flatMap { self.listener($0, "the api listener", port: 8080) }
        listeners.admin = reader.optional("admin").flatMap { self.listener($0, "the admin listener", port: 9090) }
        listeners.hop = reader.optional("internal").flatMap(self.hop)
        let all = [("api", listeners.api), ("admin", listeners.admin), ("internal", listeners.hop?.listener)]
        for (place, (name, address)) in all.enumerated() {
            for (earlier, taken) in all[..<place] {
                guard let address, let taken, self.collide(taken, address) else { continue }
                self.diagnostics.error(
                    reader.place(of: name),
                    "the \(name) listener takes the port of the \(earlier) listener, \(taken.port)",
                    "write another port")
            }
        }
        return listeners
    }

    private func collide(_ left: ListenerAddress, _ right: ListenerAddress) -> Bool {
        let isWild = left.isWildcard || right.isWildcard
        return left.port == right.port && left.port != 0 && (isWild || left.address == right.address)
    }

    private func listener(_ node: YAMLNode, _ what: String, port standard: UInt16) -> ListenerAddress? {
        let reader = MappingReader(
            node, what, keys: ["address", "port"], refused: ["tls": Self.noTLS], self.diagnostics)
        return reader.map { self.listener($0, port: standard) }
    }

    func listener(_ reader: MappingReader, port standard: UInt16) -> ListenerAddress {
        let address = reader.optional("address").map(self.address) ?? "127.0.0.1"
        let port = reader.optional("port")?.integer("the port", in: 0...65_535, self.diagnostics)
        return ListenerAddress(address: address, port: port.flatMap { UInt16(exactly: $0) } ?? standard)
    }

    private func address(_ node: YAMLNode) -> String {
        let advice = "write an IP address, such as 127.0.0.1, 0.0.0.0 or ::1"
        guard let text = node.text("the address", advice: advice, self.diagnostics) else { return "127.0.0.1" }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) != 1 && inet_pton(AF_INET6, text, &six) != 1 {
            self.diagnostics.error(node.position, "the address is \(quoted(text)), which is not an IP address", advice)
        }
        return text
    }

    func log(_ node: YAMLNode) -> LogSettings {
        guard let reader = MappingReader(node, "`log`", keys: ["access"], self.diagnostics),
            let access = reader.optional("access")
        else { return LogSettings(access: .stdout) }
        return LogSettings(access: self.sink(access) ?? .stdout)
    }

    private func sink(_ node: YAMLNode) -> LogSettings.Sink? {
        if case .mapping = node.content {
            let reader = MappingReader(node, "`access`", keys: ["file"], self.diagnostics)
            let advice = "write `access: {file: access.log}`"
            return reader?.required("file", advice).flatMap { self.logFile($0, advice: advice) }
        }
        let advice = "write one of `stdout`, `stderr`, `none` and `{file: PATH}`"
        let places = ["stdout", "stderr", "none"]
        switch node.word("place for access records", among: places, advice: advice, self.diagnostics) {
        case "stdout": return .stdout
        case "stderr": return .stderr
        case "none": return LogSettings.Sink.none
        default: return nil
        }
    }

    private func logFile(_ node: YAMLNode, advice: String) -> LogSettings.Sink? {
        guard let written = node.text("`file`", advice: advice, maxBytes: 4096, self.diagnostics) else { return nil }
        let path = self.references.resolve(written)
        if let problem = self.references.sources.appendProblem(path) {
            let remedy =
                switch problem {
                case .noFolder: "make the folder or write another path"
                case .forbiddenFolder, .forbidden: "permit it or write another path"
                case .notAFile: "write the path of a file"
                }
            self.diagnostics.error(
                node.position, "access records cannot go to \(quoted(path)): \(problem.rawValue)", remedy)
        }
        return .file(path)
    }
}
