package import GatewayTypes
import JOSE

/// What instances sign their hops with, and by which they know each other: one secret, or two while it is changed.
package final class HopKeys: Sendable {
    /// As many bytes as the hash has (RFC 2104 §3).
    package static let leastBytes = 32
    package static let mostSecrets = 2

    private let authenticators: [MessageAuthenticator]

    /// - Parameter secrets: the first signs, all of them are believed.
    /// - Returns: nil when there is none, one is too short, or OpenSSL refuses one.
    package init?(_ secrets: [Secret]) {
        let authenticators = secrets.prefix(Self.mostSecrets).compactMap { secret in
            secret.reveal { bytes in
                bytes.count >= Self.leastBytes ? MessageAuthenticator(.sha256, secret: bytes.span) : nil
            }
        }
        guard !authenticators.isEmpty, authenticators.count == secrets.count else { return nil }
        self.authenticators = authenticators
    }

    /// HMAC-SHA-256 over all that a hop says.
    func sign(_ request: HopRequest) -> [UInt8] {
        self.authenticators.first.map { $0.code(for: request.signed.span) } ?? []
    }

    /// Whether one of the secrets signed exactly this; compared in constant time.
    func areOf(_ signature: [UInt8], _ request: HopRequest) -> Bool {
        let signed = request.signed
        return self.authenticators.contains { $0.verify(signature.span, for: signed.span) }
    }
}
