public import RelayCore

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
    ///
    /// - Throws: ``NotGenuine``.
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
