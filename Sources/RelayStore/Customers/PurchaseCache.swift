/// Customers' purchases in memory, written out, as their publishers were told of them last.
typealias PurchaseCache = RecentCache<CustomerName, CustomerPurchases>

extension PurchaseCache {
    convenience init() { self.init(capacity: 2_048) }
}
