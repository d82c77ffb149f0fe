/// Certificates made by the `openssl` command: good ones, and ones that must be refused.
package final class RedisCertificates: Sendable {
    /// Paths of PEM files.
    package struct Pair: Sendable {
        package let certificate: String
        package let key: String
        /// Who vouches for it, and whom a server asks to vouch for its clients.
        package let authority: String

        /// What a redis-server has to be told to show it.
        func options(port: UInt16) -> [String] {
            [
                "--tls-port", "\(port)", "--tls-cert-file", self.certificate, "--tls-key-file", self.key,
                "--tls-ca-cert-file", self.authority,
            ]
        }
    }

    private let folder: TemporaryFolder
    /// For localhost and 127.0.0.1.
    package let good: Pair
    package let expired: Pair
    /// For another name and address.
    package let wrongHost: Pair
    /// By an authority that nobody trusts.
    package let stranger: Pair
    package let client: Pair
    /// PEM file of the authority behind all but the stranger.
    package var authority: String { self.good.authority }

    package init() throws {
        self.folder = try TemporaryFolder()
        let maker = Maker(folder: self.folder)
        let authority = try maker.authority("authority")
        let other = try maker.authority("other")
        let here = "DNS:localhost,IP:127.0.0.1"
        self.good = try maker.pair("good", names: here, by: authority)
        self.expired = try maker.pair("expired", names: here, days: -1, by: authority)
        self.wrongHost = try maker.pair("wrong", names: "DNS:elsewhere.example,IP:192.0.2.7", by: authority)
        self.stranger = try maker.pair("stranger", names: here, by: other)
        self.client = try maker.pair("client", names: "DNS:client.example", by: authority)
    }

    private struct Maker {
        let folder: TemporaryFolder

        func openssl(_ arguments: [String]) throws {
            let (code, _, errors) = try ChildProcess.run("openssl", arguments)
            guard code == 0 else { throw RedisServer.NotStarted(output: errors) }
        }

        func path(_ name: String) -> String { "\(self.folder.path)/\(name).pem" }

        func authority(_ name: String) throws -> String {
            try self.openssl(
                Self.newKey + [
                    "-x509", "-keyout", self.path("\(name)-key"), "-out", self.path(name), "-subj", "/CN=\(name)",
                    "-days", "2",
                ])
            return name
        }

        func pair(_ name: String, names: String, days: Int = 2, by authority: String) throws -> Pair {
            let extensions = try self.folder.write("\(name).ext", "subjectAltName=\(names)\n")
            try self.openssl(
                Self.newKey + [
                    "-keyout", self.path("\(name)-key"), "-out", self.path("\(name)-request"), "-subj", "/CN=\(name)",
                ])
            try self.openssl([
                "x509", "-req", "-in", self.path("\(name)-request"), "-CA", self.path(authority), "-CAkey",
                self.path("\(authority)-key"), "-set_serial", "\(names.utf8.count &+ days &+ 100)", "-days", "\(days)",
                "-extfile", extensions, "-out", self.path(name),
            ])
            return Pair(
                certificate: self.path(name), key: self.path("\(name)-key"), authority: self.path(authority))
        }

        static let newKey = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256"]
    }
}
