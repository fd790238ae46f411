import Foundation
import SimulatorKit

/// A real-time notification of the Amazon Appstore.
struct PurchaseNotification: Sendable {
    /// Such as `SUBSCRIPTION_RENEWED`.
    let type: String
    let receiptID: String?
    /// The `Message` field of the SNS message.
    let text: String

    init(_ type: String, of purchase: AmazonPurchase, _ receiptID: String, at now: Date) {
        self.init(
            [
                "appPackageName": purchase.appPackageName ?? "", "notificationType": type,
                "appUserId": purchase.userId ?? "", "receiptId": receiptID,
                "betaProductTransaction": purchase.betaProduct ?? false,
            ], at: now)
    }

    /// - Parameter object: any JSON object. Fields that every notification has are added if missing.
    init(_ object: [String: Any], at now: Date) {
        let whole = [
            "appPackageName": AmazonPurchase.examplePackage, "relatedReceipts": [String: String](),
            "timestamp": now.wholeMilliseconds, "betaProductTransaction": false,
        ].merging(object) { $1 }
        let json = try? JSONSerialization.data(
            withJSONObject: whole, options: [.sortedKeys, .withoutEscapingSlashes])
        self.init(text: String(decoding: json ?? Data(), as: UTF8.self), whole)
    }

    /// - Parameter text: any text, sent unchanged.
    init(text: String) { self.init(text: text, [:]) }

    private init(text: String, _ object: [String: Any]) {
        self.text = text
        type = object["notificationType"] as? String ?? "UNKNOWN"
        receiptID = object["receiptId"] as? String
    }
}

extension AmazonPurchase {
    /// First part of its notifications' types.
    private var kind: String {
        switch productType {
        case "ENTITLED": "ENTITLEMENT"
        case "CONSUMABLE": "CONSUMABLE"
        default: "SUBSCRIPTION"
        }
    }

    var purchaseType: String { "\(kind)_PURCHASED" }

    /// Type of the notification for an act on this purchase; nil if Amazon has none.
    func notificationType(of act: String) -> String? {
        if act == "refund" { return "\(kind)_CANCELLED" }
        guard kind == "SUBSCRIPTION" else { return nil }
        return switch act {
        case "renew": gracePeriodEndDate == nil ? "SUBSCRIPTION_RENEWED" : "SUBSCRIPTION_OUT_OF_GRACE_PERIOD"
        case "cancel": "SUBSCRIPTION_AUTO_RENEWAL_OFF"
        case "expire": "SUBSCRIPTION_EXPIRED"
        case "grace": "SUBSCRIPTION_IN_GRACE_PERIOD"
        default: nil
        }
    }
}
