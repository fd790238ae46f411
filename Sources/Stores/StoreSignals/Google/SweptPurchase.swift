public import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A purchase from Google's list of voided purchases whose notification never arrived. It is stored as that
/// notification would be.
public enum SweptPurchase {
    /// The key is order and time, so that a purchase is stored once, however often Google lists it.
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
            /// Base64-encoded.
            var data: Data
        }

        var message: Message
        var subscription: String
    }
}
