/// All purchases of a customer at a moment.
public struct CustomerPurchases: Sendable {
    public var name: CustomerName
    /// The newest purchase of each product, sorted by product id.
    public var purchases: [CustomerPurchase]
    /// All purchases, unordered.
    public let all: [CustomerPurchase]
    /// Time of the read by the database's clock.
    public var readAt: Timestamp
    /// When time alone changes them; nil if never.
    public var changesAt: Timestamp?
    /// `{"applicationUsername":…,"purchases":{…}}`, in UTF-8.
    public var json: [UInt8]

    public init(name: CustomerName, purchases: [CustomerPurchase], readAt: Timestamp, changesAt: Timestamp?) {
        self.name = name
        all = purchases
        self.purchases = CustomerPurchase.newest(of: purchases)
        self.readAt = readAt
        self.changesAt = changesAt
        json = PurchaseJSON.customer(name.username, self.purchases)
    }

    /// The newest purchase of each product in an environment.
    func purchases(in environment: WebhookEnvironment) -> [CustomerPurchase] {
        switch environment {
        case .all: purchases
        case .production: CustomerPurchase.newest(of: all.filter { !$0.isSandbox })
        case .sandbox: CustomerPurchase.newest(of: all.filter(\.isSandbox))
        }
    }
}
