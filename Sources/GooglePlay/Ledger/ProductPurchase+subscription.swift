public import RelayCore
public import StoreAPI

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
