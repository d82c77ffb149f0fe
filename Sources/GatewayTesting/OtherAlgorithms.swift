internal import JOSE

extension TokenMint.Signature {
    /// Right for the key, made with RS384.
    package static var rs384: Self { .with(.rs384) }
    /// Right for the key, made with PS256.
    package static var ps256: Self { .with(.ps256) }
}
