import OutboundHTTP
public import RelayCore
import StoreAPI

/// What was bought once, as `purchases.products.get` tells of it.
public struct ProductPurchase: Sendable, Hashable {
    public var token: String
    public var productID: ProductID
    /// 0 purchased, 1 canceled (and paid back), 2 pending.
    public var purchaseState: Int64
    public var purchaseTime: Timestamp?
    public var orderID: String?
    /// It was used up.
    public var isConsumed: Bool
    public var isAcknowledged: Bool?
    public var isTest: Bool
    public var obfuscatedExternalAccountID: String?

    /// Nil for what says neither when nor by which order.
    init?(_ json: JSONValue, productID: ProductID, token: String) {
        let order = json["orderId"]?.text
        let time = json["purchaseTimeMillis"]?.moment
        guard order != nil || time != nil else { return nil }
        self.token = token
        self.productID = ProductID(json["productId"]?.text) ?? productID
        purchaseTime = time
        orderID = order
        // Zeroes are left out.
        purchaseState = json["purchaseState"]?.integer ?? 0
        isConsumed = json["consumptionState"]?.integer == 1
        isAcknowledged = json["acknowledgementState"]?.integer.map { $0 == 1 }
        isTest = json["purchaseType"]?.integer == 0
        obfuscatedExternalAccountID = json["obfuscatedExternalAccountId"]?.text
    }
}
