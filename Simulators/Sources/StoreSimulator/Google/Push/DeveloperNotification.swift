import Foundation
import SimulatorKit

/// An event of a subscription, with Google's numbers.
enum SubscriptionEvent: Int, Sendable {
    case recovered = 1
    case renewed = 2
    case canceled = 3
    case purchased = 4
    case onHold = 5
    case inGracePeriod = 6
    case restarted = 7
    case paused = 10
    case revoked = 12
    case expired = 13
    case pendingPurchaseCanceled = 20
}

/// An event of a one-time product, with Google's numbers.
enum ProductEvent: Int, Sendable {
    case purchased = 1
    case canceled = 2
}

/// A real-time developer notification, as Google publishes it.
struct DeveloperNotification: Sendable {
    /// Type such as `SUBSCRIPTION_RENEWED`, for the list of messages.
    let type: String
    let purchaseToken: String?
    let json: Data

    init(_ event: SubscriptionEvent, of subscription: GoogleSubscription, _ token: String, at now: Date) {
        let details: [String: Any] = [
            "notificationType": event.rawValue, "purchaseToken": token,
            "subscriptionId": subscription.productId ?? "",
        ]
        self.init(["packageName": subscription.packageName ?? "", Kind.subscription.rawValue: details], at: now)
    }

    init(_ event: ProductEvent, of product: GoogleProduct, _ token: String, at now: Date) {
        let details: [String: Any] = [
            "notificationType": event.rawValue, "purchaseToken": token, "sku": product.productId ?? "",
        ]
        self.init(["packageName": product.packageName ?? "", Kind.product.rawValue: details], at: now)
    }

    init(_ voided: VoidedPurchase) {
        let details: [String: Any] = [
            "purchaseToken": voided.purchaseToken, "orderId": voided.orderId,
            "productType": voided.type == .subscription ? 1 : 2,
            // A full refund.
            "refundType": 1,
        ]
        self.init(["packageName": voided.packageName, Kind.voided.rawValue: details], at: voided.voidedAt)
    }

    /// - Parameter object: any JSON object. Fields that every notification has are added if missing.
    init(_ object: [String: Any], at now: Date) {
        var whole: [String: Any] = [
            "version": "1.0", "packageName": "com.example.app", "eventTimeMillis": String(now.wholeMilliseconds),
        ].merging(object) { $1 }
        let kind = Kind.allCases.first { whole[$0.rawValue] is [String: Any] }
        var details = (kind.map { whole[$0.rawValue] } as? [String: Any]) ?? [:]
        if let kind {
            if kind != .voided, details["version"] == nil { details["version"] = "1.0" }
            whole[kind.rawValue] = details
        }
        type = kind?.word(details["notificationType"] as? Int) ?? "UNKNOWN"
        purchaseToken = details["purchaseToken"] as? String
        json = (try? JSONSerialization.data(withJSONObject: whole, options: .sortedKeys)) ?? Data()
    }

    private enum Kind: String, CaseIterable {
        case subscription = "subscriptionNotification"
        case product = "oneTimeProductNotification"
        case voided = "voidedPurchaseNotification"
        case test = "testNotification"

        func word(_ number: Int?) -> String {
            switch self {
            case .subscription: "SUBSCRIPTION_\(Self.subscriptionWords[number ?? 0] ?? String(number ?? 0))"
            case .product: "ONE_TIME_PRODUCT_\(Self.productWords[number ?? 0] ?? String(number ?? 0))"
            case .voided: "VOIDED_PURCHASE"
            case .test: "TEST"
            }
        }

        private static let subscriptionWords = [
            1: "RECOVERED", 2: "RENEWED", 3: "CANCELED", 4: "PURCHASED", 5: "ON_HOLD", 6: "IN_GRACE_PERIOD",
            7: "RESTARTED", 8: "PRICE_CHANGE_CONFIRMED", 9: "DEFERRED", 10: "PAUSED", 11: "PAUSE_SCHEDULE_CHANGED",
            12: "REVOKED", 13: "EXPIRED", 17: "ITEMS_CHANGED", 18: "CANCELLATION_SCHEDULED",
            19: "PRICE_CHANGE_UPDATED", 20: "PENDING_PURCHASE_CANCELED", 22: "PRICE_STEP_UP_CONSENT_UPDATED",
        ]
        private static let productWords = [1: "PURCHASED", 2: "CANCELED"]
    }
}
