import Foundation
import RelayCore

@testable import AppleStore

/// A version 2 notification as separate parts, which a test can change before they are signed.
struct FutureNotification: Sendable {
    static let scope = StoreScope(
        bundleIds: ["com.example.app"], appId: 42, environments: [.production, .sandbox])
    static let now = Int64(TrustFixture.moment.timeIntervalSince1970 * 1_000)
    private static let day: Int64 = 86_400_000

    var payload: [String: AppleField]
    /// Name of the payload's object: `data`, unless the notification is not about a purchase.
    var name = "data"
    var object: [String: AppleField] = [
        "bundleId": "com.example.app", "environment": "Production", "appAppleId": 42, "bundleVersion": "1",
    ]
    /// Replaces the object.
    var replacement: AppleField?
    /// Empty if the notification has no transaction; the same for `renewal`.
    var transaction: [String: AppleField] = [:]
    var renewal: [String: AppleField] = [:]

    init(_ type: String, _ subtype: String? = nil) {
        payload = [
            "notificationType": .text(type), "version": "2.0", "signedDate": .number(Self.now),
            "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
        ]
        if let subtype { payload["subtype"] = .text(subtype) }
    }

    /// A notification about a subscription with this status.
    static func purchase(_ type: String, _ subtype: String? = nil, status: Int64 = 1) -> Self {
        var notification = Self(type, subtype)
        notification.object["status"] = .number(status)
        notification.transaction = [
            "transactionId": "2000000700000002", "originalTransactionId": "2000000700000001",
            "webOrderLineItemId": "2000000090000001", "bundleId": "com.example.app", "productId": "month",
            "environment": "Production", "purchaseDate": .number(now - 10 * day),
            "originalPurchaseDate": .number(now - 10 * day), "expiresDate": .number(now + 20 * day), "quantity": 1,
            "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", "isUpgraded": false,
            "offerType": 1, "offerDiscountType": "PAY_AS_YOU_GO", "storefront": "POL", "signedDate": .number(now),
        ]
        notification.renewal = [
            "originalTransactionId": "2000000700000001", "autoRenewProductId": "month", "productId": "month",
            "autoRenewStatus": 1, "environment": "Production", "signedDate": .number(now),
        ]
        return notification
    }

    static var inGrace: Self {
        var notification = purchase("DID_FAIL_TO_RENEW", "GRACE_PERIOD", status: 4)
        notification.transaction["expiresDate"] = .number(now - day)
        notification.renewal["isInBillingRetryPeriod"] = true
        notification.renewal["gracePeriodExpiresDate"] = .number(now + 15 * day)
        return notification
    }

    static var refund: Self {
        var notification = purchase("REFUND", status: 5)
        notification.transaction["revocationDate"] = .number(now - day)
        notification.transaction["revocationReason"] = 1
        return notification
    }

    static var consumptionRequest: Self {
        var notification = purchase("CONSUMPTION_REQUEST")
        notification.object["consumptionRequestReason"] = "UNINTENDED_PURCHASE"
        return notification
    }

    static var externalPurchase: Self {
        var notification = Self("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED")
        notification.name = "externalPurchaseToken"
        notification.object["environment"] = nil
        notification.object["externalPurchaseId"] = "SANDBOX_b2158121"
        return notification
    }

    static func about(_ object: String, _ type: String, _ subtype: String? = nil) -> Self {
        var notification = Self(type, subtype)
        notification.name = object
        return notification
    }

    static let all: [Self] = [
        purchase("SUBSCRIBED", "INITIAL_BUY"), purchase("DID_RENEW"), inGrace,
        purchase("EXPIRED", "VOLUNTARY", status: 2), refund, purchase("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
        consumptionRequest, Self("TEST"), about("summary", "RENEWAL_EXTENSION", "SUMMARY"),
        about("appData", "RESCIND_CONSENT"), externalPurchase,
    ]

    /// The `signedPayload`, with separately signed parts.
    func text(signedBy sign: (Data) throws -> String = FutureNotification.unsigned) throws -> String {
        var object = object
        for (key, part) in [("signedTransactionInfo", transaction), ("signedRenewalInfo", renewal)]
        where !part.isEmpty && object[key] == nil {
            object[key] = .text(try sign(JSONEncoder().encode(part)))
        }
        var payload = payload
        payload[name] = replacement ?? .object(object)
        return try sign(JSONEncoder().encode(payload))
    }

    /// A text that can be read, without a valid signature.
    static func unsigned(_ json: Data) -> String { jws(payload: String(decoding: json, as: UTF8.self)) }
}
