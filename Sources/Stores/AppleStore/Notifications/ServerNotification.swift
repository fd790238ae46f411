public import RelayCore

/// A body that Apple posts to a notification URL, in either version; read, not verified.
public enum ServerNotification: Sendable, Hashable {
    case signed(SignedNotification)
    case statusUpdate(UnreadStatusUpdate)

    public enum ReadError: Error, Sendable, Hashable {
        case notJSON
        /// JSON of neither version.
        case neitherVersion
        /// Claims to be signed, but it or a signed part is not a JWS.
        case unreadable
    }

    /// Determines the version from the body.
    public init(body: [UInt8]) throws(ReadError) {
        let fields: Fields
        do { fields = try StoreJSON.decode(Fields.self, from: body) } catch { throw .notJSON }
        if let text = fields.signedPayload {
            do { self = .signed(try SignedNotification(text)) } catch { throw .unreadable }
        } else if let claim = fields.claim {
            self = .statusUpdate(UnreadStatusUpdate(body: body, claim: claim))
        } else {
            throw .neitherVersion
        }
    }

    private struct Fields: Decodable {
        var signedPayload: String?
        var claim: UnreadStatusUpdate.Claim?

        enum Key: String, CodingKey {
            case signedPayload
            case notificationType = "notification_type"
        }

        init(from decoder: any Decoder) throws {
            guard let fields = try? decoder.container(keyedBy: Key.self) else { return }
            signedPayload = try? fields.decodeIfPresent(String.self, forKey: .signedPayload)
            if fields.contains(.notificationType) { claim = try UnreadStatusUpdate.Claim(from: decoder) }
        }
    }
}

/// Decides which notifications are accepted: genuine ones, for one of our apps.
public struct NotificationPolicy: Sendable {
    private let trust: ChainOfTrust
    private let scope: StoreScope
    private let sharedSecret: String?

    /// - Parameter sharedSecret: required in version 1 notifications; nil rejects all of them.
    public init(trust: ChainOfTrust, scope: StoreScope, sharedSecret: String?) {
        self.trust = trust
        self.scope = scope
        self.sharedSecret = sharedSecret
    }

    /// Verifies a notification and returns its content.
    public func judge(_ notification: ServerNotification) async throws(NotGenuine) -> StoreNotification {
        switch notification {
        case .signed(let signed):
            try await signed.verify(trust, scope)
            return try signed.notification()
        case .statusUpdate(let update):
            try update.verify(secret: sharedSecret, scope)
            return try update.read().notification
        }
    }
}
