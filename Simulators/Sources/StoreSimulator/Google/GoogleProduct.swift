import Foundation
import SimulatorKit

/// A one-time purchase in the simulated Google Play, as set by `PUT /control/products/{token}`.
struct GoogleProduct: Sendable, Codable {
    var packageName: String?
    var productId: String?
    var orderId: String?
    var purchaseTime: Date?
    /// 0 purchased, 1 canceled, 2 pending.
    var purchaseState: Int?
    var isConsumed: Bool?
    var isTest: Bool?
    /// nil counts as acknowledged.
    var isAcknowledged: Bool?
    /// Number of acknowledgements, including repeated ones.
    var acknowledgements: Int?
    var accountId: String?

    static let fields = [
        "packageName", "productId", "orderId", "purchaseTime", "purchaseState", "isConsumed", "isTest",
        "isAcknowledged", "acknowledgements", "accountId",
    ]

    func completed(at now: Date) -> GoogleProduct {
        var whole = self
        whole.packageName = packageName ?? "com.example.app"
        whole.productId = productId ?? "film"
        whole.orderId = orderId ?? GoogleSubscription.newOrderID()
        whole.purchaseTime = purchaseTime ?? now
        whole.acknowledgements = acknowledgements ?? 0
        return whole
    }

    var isPaid: Bool { (purchaseState ?? 0) == 0 }

    /// Google's event after the state was set; nil for a replaced state.
    func event(after before: GoogleProduct?) -> ProductEvent? {
        guard let before else { return isPaid ? .purchased : nil }
        guard before.purchaseState == 2, purchaseState != 2 else { return nil }
        return isPaid ? .purchased : .canceled
    }

    /// The answer of `purchases.products.get`.
    var answer: some Encodable {
        Answer(
            purchaseTimeMillis: purchaseTime.map { String($0.wholeMilliseconds) }, purchaseState: purchaseState ?? 0,
            consumptionState: isConsumed == true ? 1 : 0, orderId: orderId, purchaseType: isTest == true ? 0 : nil,
            acknowledgementState: isAcknowledged == false ? 0 : 1, productId: productId,
            obfuscatedExternalAccountId: accountId)
    }

    private struct Answer: Encodable {
        var kind = "androidpublisher#productPurchase"
        let purchaseTimeMillis: String?
        let purchaseState: Int
        let consumptionState: Int
        let orderId: String?
        let purchaseType: Int?
        let acknowledgementState: Int
        let productId: String?
        let obfuscatedExternalAccountId: String?
    }
}
