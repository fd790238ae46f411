import CryptoExtras

extension _RSA.Signing.PrivateKey {
    /// A key that no receiver trusts. Created on first use, because that takes a noticeable part of a second.
    static let impostor = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
}
