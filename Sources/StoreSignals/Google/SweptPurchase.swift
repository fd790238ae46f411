public import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A purchase in Google's list of voided ones, for which no notification came: written as the notification that did not.
public enum SweptPurchase {
    /// Known by order and time, so that each is taken in once, however often it is listed.
    public static func body(
        packageName: BundleID, purchaseToken: String, orderID: String, voidedAt: Timestamp, reason: String?,
        publisher: PublisherID
    ) throws -> [UInt8] {
        let milliseconds = voidedAt.microseconds / 1_000
        let notification = DeveloperNotification(
            packageName: packageName.text, eventTimeMillis: String(milliseconds),
            voidedPurchaseNotification: .init(purchaseToken: purchaseToken, orderId: orderID, voidedReason: reason))
        let push = Push(
            message: .init(
                messageId: "\(orderID.isEmpty ? purchaseToken : orderID) \(milliseconds)",
                data: try JSONEncoder().encode(notification)),
            subscription: "voidedpurchases.list/\(publisher)")
        return Array(try JSONEncoder().encode(push))
    }

    private struct DeveloperNotification: Encodable {
        struct Voided: Encodable {
            var purchaseToken: String
            var orderId: String
            var voidedReason: String?
        }

        var version = "1.0"
        var packageName: String
        var eventTimeMillis: String
        var voidedPurchaseNotification: Voided
    }

    private struct Push: Encodable {
        struct Message: Encodable {
            var messageId: String
            /// As Base64.
            var data: Data
        }

        var message: Message
        var subscription: String
    }
}
