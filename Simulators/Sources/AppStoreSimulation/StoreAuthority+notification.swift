public import Foundation

extension StoreAuthority {
    /// The body that the App Store posts, `{"signedPayload":"…"}`: what is inside is signed first, then the whole.
    ///
    /// - Parameter inner: signs the transaction and the renewal information in place of this one.
    /// - Throws: where an authority's key is not one for it.
    public func sign(_ notification: SimulatedNotification, inner: StoreAuthority? = nil) throws -> Data {
        let signer = inner ?? self
        let date = notification.signedDate
        let transaction = try notification.transaction.map { try signer.sign(json: $0.json(signedDate: date)) }
        let renewal = try notification.renewal.map { try signer.sign(json: $0.json(signedDate: date)) }
        let payload = Payload(
            notificationType: notification.notificationType, subtype: notification.subtype,
            notificationUUID: notification.notificationUUID,
            data: Details(
                environment: notification.environment, bundleId: notification.bundleId,
                appAppleId: notification.appAppleId, status: notification.status?.rawValue,
                signedTransactionInfo: transaction, signedRenewalInfo: renewal))
        let text = try sign(json: SimulatedJSON.encode(SignedPart(content: payload, signedDate: date)))
        return try SimulatedJSON.encode(["signedPayload": text])
    }

    private struct Payload: Encodable {
        var notificationType: String
        var subtype: String?
        var notificationUUID: String
        var version = "2.0"
        var data: Details
    }

    private struct Details: Encodable {
        var environment: String
        var bundleId: String
        var appAppleId: Int64?
        var status: Int?
        var signedTransactionInfo: String?
        var signedRenewalInfo: String?
    }
}
