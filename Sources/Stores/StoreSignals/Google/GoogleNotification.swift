import Foundation
public import RelayCore

/// A real-time developer notification of Google Play, received as a Pub/Sub push (source: Android Developers,
/// "Real-time developer notifications reference guide").
public struct GoogleNotification: StoreSignal {
    /// Package of the app.
    public let packageName: BundleID
    public let notification: StoreNotification

    /// - Throws: ``SignalError``.
    public init(body: [UInt8]) throws(SignalError) {
        let push: PubSubPush
        do { push = try SignalText.decode(PubSubPush.self, from: body) } catch {
            throw (try? SignalText.decode(AnyJSON.self, from: body)) == nil
                ? SignalError(.notJSON, "the body is not JSON")
                : SignalError(
                    .notANotification,
                    "it is no wrapped push message of Pub/Sub: message.messageId or message.data is missing")
        }
        guard let content = try? SignalText.decode(Content.self, from: push.data), let packageName = content.packageName
        else {
            throw SignalError(.notANotification, "message.data is no developer notification: packageName is missing")
        }
        self.packageName = BundleID(packageName)
        var notification = StoreNotification(
            version: .one, identity: "google\n\(push.subscription)\n\(push.messageID)", uuid: push.messageID,
            type: content.type, environment: .unknown, bundleID: self.packageName,
            originalTransactionID: content.purchaseToken.map {
                StorePlatform.google.subscriptionKey(TransactionID($0))
            }, saidAt: content.eventTimeMillis.flatMap { Timestamp(external: $0) })
        notification.store = .google
        notification.productID = content.productID.map { ProductID($0) }
        if content.isRefund {
            notification.refund = notification.refund(of: content.order, reason: content.voidedReason)
        }
        notification.notice = Self.review(in: push.data).map { notification.notice("pendingRefundReview", json: $0) }
        self.notification = notification
    }

    /// A refund that the publisher may review until Google decides by itself, with the token for the answer. Nil if the
    /// notification is of another kind.
    private static func review(in content: [UInt8]) -> Data? {
        guard let fields = (try? JSONSerialization.jsonObject(with: Data(content))) as? [String: Any],
            let review = fields["pendingRefundReviewNotification"] as? [String: Any]
        else { return nil }
        return try? JSONSerialization.data(withJSONObject: review, options: [.sortedKeys, .withoutEscapingSlashes])
    }

    /// Google's JSON unchanged; nil if the body is not a Pub/Sub push.
    public static func payload(of body: [UInt8]) -> [UInt8]? {
        (try? SignalText.decode(PubSubPush.self, from: body))?.data
    }
}

extension GoogleNotification {
    /// Google's numbers. A notification with an unknown number is stored too, and the relay asks Google about its
    /// purchase.
    private static let subscriptionTypes: [Int64: String] = [
        1: "RECOVERED", 2: "RENEWED", 3: "CANCELED", 4: "PURCHASED", 5: "ON_HOLD", 6: "IN_GRACE_PERIOD", 7: "RESTARTED",
        8: "PRICE_CHANGE_CONFIRMED", 9: "DEFERRED", 10: "PAUSED", 11: "PAUSE_SCHEDULE_CHANGED", 12: "REVOKED",
        13: "EXPIRED", 17: "ITEMS_CHANGED", 18: "CANCELLATION_SCHEDULED", 19: "PRICE_CHANGE_UPDATED",
        20: "PENDING_PURCHASE_CANCELED", 22: "PRICE_STEP_UP_CONSENT_UPDATED",
    ]
    /// Google's reasons in its list of voided purchases. Not here: 0 other.
    private static let voidedReasons: [Int64: CancelationReason] = [
        // Remorse, accidental purchase.
        1: .customer, 4: .customer,
        // Not received, defective.
        2: .technicalIssues, 3: .technicalIssues,
        // Fraud, friendly fraud, chargeback.
        5: .system, 6: .system, 7: .customer,
        // Not acknowledged.
        8: .developer,
    ]
    private static let productTypes: [Int64: String] = [1: "PURCHASED", 2: "CANCELED"]

    /// A `DeveloperNotification`. Exactly one of its members is set, and that member is its subject.
    private struct Content: Decodable {
        var packageName: String?
        var eventTimeMillis: Int64?
        var type = "UNKNOWN"
        var purchaseToken: String?
        /// Product of a one-time purchase; Google's look-up requires it.
        var productID: String?
        var isRefund = false
        /// The refunded order; nil if the notification does not name it.
        var order: String?
        /// Only in the list of voided purchases.
        var voidedReason: CancelationReason?

        private enum Key: CodingKey {
            case packageName, eventTimeMillis, subscriptionNotification, oneTimeProductNotification,
                voidedPurchaseNotification, pendingRefundReviewNotification, testNotification
        }

        private struct Member: Decodable {
            var number: Int64?
            var purchaseToken: String?
            var sku: String?
            var orderID: String?
            var isPartial: Bool
            var voidedReason: Int64?

            private enum Key: String, CodingKey {
                case notificationType, purchaseToken, sku, refundType, voidedReason
                case orderID = "orderId"
            }

            /// Google's number of a refund of some of several equal products.
            private static let partial: Int64 = 2

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: Key.self)
                number = fields.integer(.notificationType)
                purchaseToken = fields.text(.purchaseToken)
                sku = fields.text(.sku)
                orderID = fields.text(.orderID)
                isPartial = fields.integer(.refundType) == Self.partial
                voidedReason = fields.integer(.voidedReason)
            }

            func type(_ prefix: String, _ names: [Int64: String]) -> String {
                "\(prefix)_\(number.map { names[$0] ?? "TYPE_\($0)" } ?? "UNKNOWN")"
            }
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            packageName = fields.text(.packageName)
            eventTimeMillis = fields.integer(.eventTimeMillis)
            if let member: Member = fields.inner(.subscriptionNotification) {
                (type, purchaseToken) = (member.type("SUBSCRIPTION", subscriptionTypes), member.purchaseToken)
                isRefund = type == "SUBSCRIPTION_REVOKED"
            } else if let member: Member = fields.inner(.oneTimeProductNotification) {
                (type, purchaseToken) = (member.type("ONE_TIME_PRODUCT", productTypes), member.purchaseToken)
                productID = member.sku
            } else if let member: Member = fields.inner(.voidedPurchaseNotification) {
                (type, purchaseToken) = ("VOIDED_PURCHASE", member.purchaseToken)
                (isRefund, order) = (!member.isPartial, member.orderID.flatMap { $0.isEmpty ? nil : $0 })
                voidedReason = member.voidedReason.flatMap { voidedReasons[$0] }
            } else if fields.contains(.pendingRefundReviewNotification) {
                type = "PENDING_REFUND_REVIEW"
            } else if fields.contains(.testNotification) {
                type = "TEST"
            }
        }
    }
}
