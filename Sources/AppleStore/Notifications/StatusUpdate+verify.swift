import Crypto

extension StatusUpdate {
    /// Whether it knows the secret that Apple and we share, and is about one of our apps.
    ///
    /// - Parameter secret: nil where none is configured: then nothing vouches for anything.
    /// - Throws: ``NotGenuine``.
    public func verify(secret: String?, _ scope: StoreScope) throws(NotGenuine) {
        guard let secret else {
            throw NotGenuine(.unsigned, "without the shared secret nothing shows that version 1 comes from Apple")
        }
        guard let password, Self.isSame(password, secret) else {
            throw NotGenuine(.signature, "it does not carry the shared secret")
        }
        try scope.check(Genuine(isLocal: false), environment: environment, bundleId: bundleId, appId: nil)
    }

    /// In a time that tells nothing of where they differ: swift-crypto compares digests so.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        SHA256.hash(data: Array(left.utf8)) == SHA256.hash(data: Array(right.utf8))
    }
}
