import OutboundHTTP
public import RelayCore
public import StoreAPI

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

extension ProductPurchase {
    /// The same in the words that all stores share.
    ///
    /// - Parameter readAt: when Google was asked.
    public func subscription(readAt: Timestamp) -> StoreSubscription {
        let state: StoreState =
            switch purchaseState {
            case 0: .active
            case 1: .revoked
            case 2: .pending
            default: .unknown
            }
        var item = StoreSubscription.Item(productID: productID)
        item.orderID = TransactionID(orderID)
        var purchase = StoreSubscription(
            .google, isConsumed ? .consumable : .oneTime, key: TransactionID(token), items: [item], state: state,
            rawState: String(purchaseState), isTest: isTest, readAt: readAt)
        purchase.firstPurchasedAt = purchaseTime
        purchase.isAcknowledged = isAcknowledged
        purchase.accountID = obfuscatedExternalAccountID
        if state == .revoked { purchase.cancellation = StoreCancellation(.unknown) }
        return purchase
    }
}
