package import GatewayTypes
import RedisClient

/// Idempotency keys, and which instances live.
extension RedisStore: KeyBook {
    package func claim(
        _ key: KeyName, for record: KeyRecord, lifetime: TimeSpan
    ) async throws(QuotaFailure) -> KeyClaim {
        let values = try await self.run(.claim) { self.input(key, [record.text, Self.milliseconds(lifetime)]) }
        guard var answer = ScriptAnswer(values), let text = answer.text() else { throw .malformedAnswer }
        if text.isEmpty { return .mine }
        guard let found = KeyRecord(text) else { throw .malformedAnswer }
        // A lost answer has the script sent again.
        return found.question == record.question ? .mine : .taken(found)
    }

    package func finish(_ key: KeyName, _ record: KeyRecord, lifetime: TimeSpan) async throws(QuotaFailure) {
        var record = record
        record.isFinished = true
        let arguments = [Self.text(record.question), record.text, Self.milliseconds(lifetime)]
        _ = try await self.run(.conclude) { self.input(key, arguments) }
    }

    package func release(_ key: KeyName, _ record: KeyRecord) async throws(QuotaFailure) {
        let arguments = [Self.text(record.question), "", "0"]
        _ = try await self.run(.conclude) { self.input(key, arguments) }
    }

    private func input(_ key: KeyName, _ arguments: [ByteString]) -> ScriptInput {
        let tag = self.tag(of: key.tenant)
        var keys = RedisWords()
        tag.append(key: key.digest, to: &keys)
        return ScriptInput(keys: keys, tag: tag.tag, arguments: RedisWords(arguments))
    }

    private static func milliseconds(_ span: TimeSpan) -> ByteString { ByteString(String(max(1, span.inMilliseconds))) }
}

extension RedisStore: InstanceBook {
    package func register(
        _ instance: UInt32, at address: ByteString, lifetime: TimeSpan
    ) async throws(QuotaFailure) {
        let arguments = ["i" + address.string, String(max(1, lifetime.inMilliseconds))].map { ByteString($0) }
        _ = try await self.run(.register) { Self.input(instance, arguments) }
    }

    package func address(of instance: UInt32) async throws(QuotaFailure) -> ByteString? {
        let values = try await self.run(.locate) { Self.input(instance, []) }
        guard var answer = ScriptAnswer(values), let text = answer.text() else { throw .malformedAnswer }
        return text.isEmpty ? nil : ByteString(String(text.string.dropFirst()))
    }

    private static func input(_ instance: UInt32, _ arguments: [ByteString]) -> ScriptInput {
        let tag: ByteString = "{i}"
        let keys = RedisWords([ByteString("ag1:{i}:\(String(instance, radix: 16))")])
        return ScriptInput(keys: keys, tag: tag, arguments: RedisWords(arguments))
    }
}

extension KeyRecord {
    /// A letter for its state, the question's 32 digits and the request's.
    var text: ByteString { ByteString((self.isFinished ? "f" : "r") + self.question.description + self.body.string) }

    init?(_ text: ByteString) {
        let bytes = Array(text.utf8)
        guard bytes.count == 65, bytes[0] == 0x66 || bytes[0] == 0x72,
            let question = RequestID(digits: bytes.span.extracting(1..<33)),
            let body = ByteString(utf8: Array(bytes[33...]))
        else { return nil }
        self.init(question: question, body: body, isFinished: bytes[0] == 0x66)
    }
}
