package import GatewayTypes

/// Who changes something, why, and what they believe to be changing.
package struct OperatorOrder: Hashable, Sendable {
    /// The operator's name.
    package let actor: ByteString
    package let reason: ByteString
    /// The holder's version as the operator saw it; nil changes whatever is there. A holder that nobody has changed
    /// has version 0.
    package let expectedVersion: Int?

    /// Bytes at most; what is longer is cut off at the end of a character.
    package static let longestActor = 128
    /// Bytes at most; what is longer is cut off at the end of a character.
    package static let longestReason = 512

    package init(actor: ByteString, reason: ByteString, expectedVersion: Int? = nil) {
        self.actor = Self.cut(actor, Self.longestActor)
        self.reason = Self.cut(reason, Self.longestReason)
        self.expectedVersion = expectedVersion
    }

    private static func cut(_ text: ByteString, _ most: Int) -> ByteString {
        guard text.utf8.count > most else { return text }
        var bytes = Array(text.utf8.prefix(most + 1))
        // Backwards over what continues a character, and over that character's first byte.
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        return ByteString(utf8: bytes) ?? ByteString("")
    }
}

/// What became of an operator's change.
package enum ChangeResult: Hashable, Sendable {
    /// The holder's version now.
    case applied(version: Int)
    /// There was nothing to lift, to clear or to reset. The attempt is in the trail and takes no version.
    case unchanged(version: Int)
    /// Somebody else was faster; nothing was moved.
    case conflict(current: Int)
}

/// What became of an order to drop leases.
package enum LeaseDrop: Hashable, Sendable {
    /// Where there was none to drop, the attempt is in the trail and takes no version.
    case dropped(count: Int, version: Int)
    /// Somebody else was faster; nothing was moved.
    case conflict(current: Int)
}

/// What operators have set for one holder, and how often they have changed it.
package struct VersionedSteering: Hashable, Sendable {
    package var steering: Steering
    /// Grows by one with each change that found something to change; kept for `Audit.memory` after the last one, also when nothing is in force.
    package var version: Int

    package init(steering: Steering = Steering(), version: Int = 0) {
        self.steering = steering
        self.version = version
    }
}
