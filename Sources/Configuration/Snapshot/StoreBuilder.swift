import GatewayTypes
package import RedisClient
import TLS

/// Turns the store's section into what its client needs.
package struct StoreBuilder {
    /// The file, for problems that only show here.
    let file: String

    package init(file: String) { self.file = file }

    /// - Throws: when a file of TLS cannot be used.
    package func redis(_ settings: RedisStoreSettings) throws(ConfigurationFailure) -> RedisSettings {
        var topology = settings.topology
        let logins = Self.logins(settings)
        if case .sentinel(let master, let sentinels, _) = topology {
            topology = .sentinel(master: master, sentinels: sentinels, credentials: logins.sentinels)
        }
        return RedisSettings(
            topology: topology, credentials: logins.store,
            tls: try settings.tls.map { (tls) throws(ConfigurationFailure) in try self.context(tls) },
            database: settings.database, connectTimeout: settings.connectTimeout, commandTimeout: settings.timeout)
    }

    /// What the client logs in with and, at sentinels, what it does there.
    package static func logins(
        _ settings: RedisStoreSettings
    ) -> (store: RedisCredentials?, sentinels: RedisCredentials?) {
        (
            self.credentials(settings.user, settings.password),
            self.credentials(settings.sentinelUser, settings.sentinelPassword)
        )
    }

    private static func credentials(_ user: String?, _ password: ResolvedSecret?) -> RedisCredentials? {
        guard let password else { return nil }
        let text = password.value.reveal { String(decoding: $0, as: UTF8.self) }
        return RedisCredentials(user: user.map { ByteString($0) }, password: ByteString(text))
    }

    private func context(_ tls: RedisStoreSettings.TLSSettings) throws(ConfigurationFailure) -> TLSClientContext {
        do throws(TLSFailure) {
            return try TLSClientContext(
                TLSClientSettings(
                    authorityFile: tls.authorityFile, certificateFile: tls.certificateFile, keyFile: tls.keyFile,
                    serverName: tls.serverName))
        } catch {
            let message =
                switch error {
                case .unusableFile: self.unusable(tls)
                default: "`store.tls` does not work with this machine's OpenSSL"
                }
            throw .invalid([
                ConfigurationProblem(
                    file: self.file, message: message, advice: "write PEM files, the certificate with its key")
            ])
        }
    }

    /// Which of the files is at fault.
    private func unusable(_ tls: RedisStoreSettings.TLSSettings) -> String {
        let authorities = TLSClientSettings(authorityFile: tls.authorityFile)
        guard (try? TLSClientContext(authorities)) != nil else {
            return tls.authorityFile.map { "`store.tls.ca` holds no certificate in PEM: \(quoted($0))" }
                ?? "`store.tls`: the system has no trusted authorities"
        }
        let own = [tls.certificateFile, tls.keyFile].compactMap(\.self).map(quoted).joined(separator: " and ")
        return "`store.tls.certificate` and `store.tls.key` hold no PEM that belongs together: \(own)"
    }
}
