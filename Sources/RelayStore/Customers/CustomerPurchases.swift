public import RelayCore

/// Everything that a customer bought, as it stands at a moment.
public struct CustomerPurchases: Sendable {
    public var name: CustomerName
    /// Of each product the newest, in the order of their names.
    public var purchases: [CustomerPurchase]
    /// All of them, in no order.
    let all: [CustomerPurchase]
    /// By the database's clock.
    public var readAt: Timestamp
    /// When time alone changes something of it; nil where it will not.
    public var changesAt: Timestamp?
    /// `{"applicationUsername":…,"purchases":{…}}`, in UTF-8.
    public var json: [UInt8]

    init(
        name: CustomerName, purchases: [CustomerPurchase], readAt: Timestamp, changesAt: Timestamp?
    ) {
        self.name = name
        all = purchases
        self.purchases = CustomerPurchase.newest(of: purchases)
        self.readAt = readAt
        self.changesAt = changesAt
        json = PurchaseJSON.customer(name.username, self.purchases)
    }
}
