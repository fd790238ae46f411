import Crypto
import RelayCore

/// A version 1 notification of which only the fields for ``verify(secret:_:)`` were read, because any client can post
/// one.
public struct UnreadStatusUpdate: Sendable, Hashable {
    let body: [UInt8]
    let claim: Claim

    struct Claim: Sendable, Hashable {
        var password: String?
        var environment: AppleEnvironment
        var bundleId: BundleID?
    }

    /// Checks that it carries the secret that Apple and the relay share, and is for one of our apps.
    ///
    /// - Parameter secret: nil if none is configured; every notification is then rejected.
    public func verify(secret: String?, _ scope: StoreScope) throws(NotGenuine) {
        guard let secret else {
            throw NotGenuine(.unsigned, "without the shared secret nothing shows that version 1 comes from Apple")
        }
        guard let password = claim.password, Self.isSame(password, secret) else {
            throw NotGenuine(.signature, "it does not carry the shared secret")
        }
        try scope.check(
            Genuine(isLocal: false), environment: claim.environment, bundleId: claim.bundleId, appId: nil)
    }

    /// Reads all fields.
    ///
    /// - Throws: ``NotGenuine`` if the body is not a version 1 notification.
    public func read() throws(NotGenuine) -> StatusUpdate {
        do {
            return try StoreJSON.decode(StatusUpdate.self, from: body)
        } catch {
            throw NotGenuine(.unreadable, "it has no type")
        }
    }

    /// Compares in constant time: swift-crypto compares digests so.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        SHA256.hash(data: Array(left.utf8)) == SHA256.hash(data: Array(right.utf8))
    }
}

extension UnreadStatusUpdate.Claim: Decodable {
    private enum Key: String, CodingKey {
        case password, environment
        case bundleId = "bid"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        password = try? fields.decodeIfPresent(String.self, forKey: .password)
        environment = AppleEnvironment(statusUpdate: fields.text(.environment) ?? "")
        bundleId = fields.text(.bundleId)
    }
}
