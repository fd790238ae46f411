public import RelayCore

/// What Apple posts to a notification URL, in either version; read, not verified.
public enum ServerNotification: Sendable, Hashable {
    case signed(SignedNotification)
    case statusUpdate(UnreadStatusUpdate)

    public enum ReadError: Error, Sendable, Hashable {
        case notJSON
        /// JSON, and neither version.
        case neitherVersion
        /// It claims to be signed and is no JWS, or what is signed in it is none.
        case unreadable
    }

    /// Tells by the body which it is.
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

/// Which notifications are taken in: genuine ones, for one of our apps.
public struct NotificationPolicy: Sendable {
    private let trust: ChainOfTrust
    private let scope: StoreScope
    private let sharedSecret: String?

    /// - Parameter sharedSecret: what version 1 has to carry; nil refuses all of it.
    public init(trust: ChainOfTrust, scope: StoreScope, sharedSecret: String?) {
        self.trust = trust
        self.scope = scope
        self.sharedSecret = sharedSecret
    }

    /// What a notification says, once it is known that Apple says it.
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
