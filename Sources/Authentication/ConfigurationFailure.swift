internal import GatewayTypes
internal import JOSE

/// Why a configuration of issuers cannot be used, with the places of those at fault.
package struct ConfigurationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with an entry, or with two together.
    package enum Reason: String, Sendable, CaseIterable {
        case emptyIssuer = "empty_issuer"
        case noAudience = "no_audience"
        case noAlgorithm = "no_algorithm"
        /// HS beside other algorithms, or with keys that are public: the confusion of CVE-2016-10555.
        case mixedAlgorithms = "mixed_algorithms"
        /// Not one key serves one of the algorithms.
        case noFittingKey = "no_fitting_key"
        /// Keys of the configuration beside remote ones.
        case twoKeySources = "two_key_sources"
        case emptyAudienceClaim = "empty_audience_claim"
        case noType = "no_type"
        case emptyCondition = "empty_condition"
        /// A scope with characters that RFC 6750 §3 does not allow.
        case invalidScope = "invalid_scope"
        /// A token could belong to either of two entries.
        case ambiguous
    }

    /// What is wrong.
    package var reason: Reason
    /// Places in `AuthenticationConfiguration.issuers`.
    package var issuers: [Int]

    /// Bounded name for metrics.
    package var metricLabel: String { self.reason.rawValue }

    /// One constant sentence that says what to write instead.
    package var description: String {
        switch self.reason {
        case .emptyIssuer: "the issuer is empty"
        case .noAudience:
            "name at least one audience, and no empty one: tokens that are meant for other services must be refused"
        case .noAlgorithm: "name at least one algorithm"
        case .mixedAlgorithms: "HS algorithms need secrets of your own and may not stand beside public keys"
        case .noFittingKey: "none of the keys can be used with the allowed algorithms"
        case .twoKeySources: "take the keys from a remote set or from the configuration, not from both"
        case .emptyAudienceClaim: "name the claim that holds the audience"
        case .noType: "accept at least one type of token"
        case .emptyCondition: "the claim condition needs a path and at least one value"
        case .invalidScope: "the scope holds characters that a scope may not have"
        case .ambiguous:
            "two entries accept the same issuer and audience, so a token's tenant would be a matter of order; "
                + "give each its own audience, or conditions on one claim with different values"
        }
    }
}

extension AuthenticationConfiguration {
    /// Throws the first fault found; a configuration that passes gives every token at most one tenant.
    package func check() throws(ConfigurationFailure) {
        for (index, issuer) in self.issuers.enumerated() {
            if let reason = issuer.fault { throw ConfigurationFailure(reason: reason, issuers: [index]) }
            for (earlier, other) in self.issuers[..<index].enumerated() where other.overlaps(issuer) {
                throw ConfigurationFailure(reason: .ambiguous, issuers: [earlier, index])
            }
        }
    }
}

extension IssuerConfiguration {
    fileprivate var fault: ConfigurationFailure.Reason? {
        if self.issuer.isEmpty { return .emptyIssuer }
        if self.audiences.isEmpty || self.audiences.contains(where: \.isEmpty) { return .noAudience }
        if self.audienceClaim.isEmpty { return .emptyAudienceClaim }
        if self.keys != nil, self.remoteKeys != nil { return .twoKeySources }
        if self.types.isDisjoint(with: [.accessToken, .jwt, .absent]) { return .noType }
        if let condition = self.condition, condition.path.names.isEmpty || condition.values.isEmpty {
            return .emptyCondition
        }
        if let scope = self.requiredScope, !Self.isScope(scope) { return .invalidScope }
        return self.keyFault
    }

    private var keyFault: ConfigurationFailure.Reason? {
        guard !self.algorithms.isEmpty else { return .noAlgorithm }
        let symmetric = self.algorithms.filter { $0.family == .hmac }
        guard symmetric.isEmpty || symmetric.count == self.algorithms.count else { return .mixedAlgorithms }
        guard let keys = self.keys else { return symmetric.isEmpty ? nil : .mixedAlgorithms }
        guard self.algorithms.contains(where: keys.serves) else { return .noFittingKey }
        let others = symmetric.isEmpty ? keys.hasSecrets : keys.hasPublicKeys
        return others ? .mixedAlgorithms : nil
    }

    /// RFC 6750 §3: %x21 / %x23-5B / %x5D-7E.
    private static func isScope(_ scope: ByteString) -> Bool {
        !scope.isEmpty && scope.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    fileprivate func overlaps(_ other: IssuerConfiguration) -> Bool {
        guard self.issuer == other.issuer, !Set(self.audiences).isDisjoint(with: other.audiences) else { return false }
        guard let mine = self.condition, let theirs = other.condition, mine.path == theirs.path else { return true }
        return !Set(mine.values).isDisjoint(with: theirs.values)
    }
}
