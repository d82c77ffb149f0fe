import Asking
import GatewayTypes
import JOSE

/// Stands for everything that decides an answer: tenant, task, provider, model, prompt and parameters. A keyed hash,
/// so that no text can be found by it.
struct CacheKey: Hashable, Sendable {
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    init?(
        _ request: AskRequest, of tenant: TenantID, from provider: ProviderName, authenticator: MessageAuthenticator
    ) {
        let code = authenticator.code(for: Self.message(request, of: tenant, from: provider).span)
        guard code.count == 32 else { return nil }
        let words = code.withUnsafeBytes { bytes in
            (0..<4).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
        }
        (self.first, self.second, self.third, self.fourth) = (words[0], words[1], words[2], words[3])
    }

    /// Every part with its length before it, so that no two asks give the same bytes.
    private static func message(_ request: AskRequest, of tenant: TenantID, from provider: ProviderName) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(request.prompt.system.count &+ request.prompt.user.count &+ 256)
        func append(number: UInt64) {
            withUnsafeBytes(of: number.littleEndian) { message.append(contentsOf: $0) }
        }
        func append(_ bytes: some Collection<UInt8>) {
            append(number: UInt64(bytes.count))
            message.append(contentsOf: bytes)
        }
        for name in [tenant.bytes, request.task.bytes, provider.bytes, request.model.bytes] { append(name.utf8) }
        append(number: UInt64(bitPattern: Int64(request.outputCap)))
        append(number: request.temperature.bitPattern)
        append(number: UInt64(request.stop.count))
        for stop in request.stop { append(stop) }
        append(request.prompt.system)
        append(number: UInt64(request.prompt.history.count))
        for turn in request.prompt.history {
            append(number: turn.speaker == .user ? 0 : 1)
            append(turn.text)
        }
        append(request.prompt.user)
        return message
    }
}
