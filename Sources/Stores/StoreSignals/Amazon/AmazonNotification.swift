public import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A real-time notification of the Amazon Appstore, received as an SNS message (source: Amazon Appstore, "Real-time
/// Notifications").
public struct AmazonNotification: StoreSignal {
    public let notification: StoreNotification

    /// - Throws: ``SignalError``.
    public init(body: [UInt8]) throws(SignalError) { notification = Self.read(try SNSMessage(body: body)) }

    /// Reads the notification from a message. A confirmation message names no purchase.
    public static func read(_ message: SNSMessage) -> StoreNotification {
        var notification = StoreNotification(
            version: .one, identity: "amazon\n\(message.id)", uuid: message.id, type: message.kind.rawValue,
            environment: .unknown, bundleID: nil, saidAt: message.saidAt)
        notification.store = .amazon
        notification.topic = TopicStatement(
            topic: message.topic.description, state: message.kind.topicState, saidAt: message.saidAt)
        guard message.kind == .notification else { return notification }
        // The topic may carry types that Amazon adds later, or test messages that a person publishes.
        let content = (try? SignalText.decode(Content.self, from: Array(message.text.utf8))) ?? Content()
        notification.type = content.type ?? "UNKNOWN"
        notification.saidAt = content.saidAt.flatMap { Timestamp(external: $0) } ?? message.saidAt
        notification.packageName = content.appPackageName.map { BundleID($0) }
        notification.bundleID = content.appUserID.map { BundleID($0) }
        notification.originalTransactionID = content.receiptID.map(key)
        // Amazon cancels a purchase when it pays back. Who turns renewal off is reported otherwise.
        let isRefund = ["SUBSCRIPTION_CANCELLED", "ENTITLEMENT_CANCELLED"].contains(notification.type)
        notification.refund = isRefund ? notification.refund(of: nil) : nil
        notification.related = content.cancelledReceiptID.map { [key($0)] } ?? []
        return notification
    }

    /// Amazon's JSON unchanged, or how to confirm a subscription; nil if the body is not an SNS message.
    public static func payload(of body: [UInt8]) -> [UInt8]? {
        guard let message = try? SNSMessage(body: body) else { return nil }
        guard message.kind != .notification else { return Array(message.text.utf8) }
        let confirmation = ["TopicArn": message.topic.description, "Token": message.token]
        return (try? JSONEncoder().encode(confirmation)).map { Array($0) }
    }

    private static func key(_ receiptID: String) -> TransactionID {
        StorePlatform.amazon.subscriptionKey(TransactionID(receiptID))
    }

    private struct Content: Decodable {
        var type: String?
        var appPackageName: String?
        /// Together with the receipt id, identifies the purchase at the store.
        var appUserID: String?
        var receiptID: String?
        /// The receipt that this one replaces, in a change of plan.
        var cancelledReceiptID: String?
        /// Milliseconds since 1970.
        var saidAt: Int64?

        private enum Key: String, CodingKey {
            case notificationType, appPackageName, relatedReceipts, timestamp
            case appUserID = "appUserId"
            case receiptID = "receiptId"
        }

        private enum RelatedKey: String, CodingKey {
            case cancelledReceiptID = "cancelledReceiptId"
        }

        init() {}

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            type = fields.text(.notificationType)
            appPackageName = fields.text(.appPackageName)
            appUserID = fields.text(.appUserID)
            receiptID = fields.text(.receiptID)
            saidAt = fields.integer(.timestamp)
            let related = try? fields.nestedContainer(keyedBy: RelatedKey.self, forKey: .relatedReceipts)
            cancelledReceiptID = related?.text(.cancelledReceiptID)
        }
    }
}

extension SNSMessage.Kind {
    fileprivate var topicState: TopicStatement.State {
        switch self {
        case .notification: .confirmed
        case .subscription: .unconfirmed
        case .unsubscription: .ended
        }
    }
}
