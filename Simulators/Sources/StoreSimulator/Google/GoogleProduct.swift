import Foundation
import SimulatorKit

/// Something bought once that the simulated Google Play knows, as `PUT /control/products/{token}` tells of it.
struct GoogleProduct: Sendable, Codable {
    var packageName: String?
    var productId: String?
    var orderId: String?
    var purchaseTime: Date?
    /// 0 purchased, 1 canceled, 2 pending.
    var purchaseState: Int?
    var isConsumed: Bool?
    var isTest: Bool?
    var accountId: String?

    static let fields = [
        "packageName", "productId", "orderId", "purchaseTime", "purchaseState", "isConsumed", "isTest", "accountId",
    ]

    func completed(at now: Date) -> GoogleProduct {
        var whole = self
        whole.packageName = packageName ?? "com.example.app"
        whole.productId = productId ?? "film"
        whole.orderId = orderId ?? GoogleSubscription.newOrderID()
        whole.purchaseTime = purchaseTime ?? now
        return whole
    }

    /// As `purchases.products.get` answers.
    var answer: some Encodable {
        Answer(
            purchaseTimeMillis: purchaseTime.map { String($0.wholeMilliseconds) }, purchaseState: purchaseState ?? 0,
            consumptionState: isConsumed == true ? 1 : 0, orderId: orderId, purchaseType: isTest == true ? 0 : nil,
            productId: productId, obfuscatedExternalAccountId: accountId)
    }

    private struct Answer: Encodable {
        var kind = "androidpublisher#productPurchase"
        let purchaseTimeMillis: String?
        let purchaseState: Int
        let consumptionState: Int
        let orderId: String?
        let purchaseType: Int?
        var acknowledgementState = 1
        let productId: String?
        let obfuscatedExternalAccountId: String?
    }
}
