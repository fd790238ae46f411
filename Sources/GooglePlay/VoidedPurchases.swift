import OutboundHTTP
public import RelayCore
import StoreAPI

/// A page of purchases that Google took back, or has had taken back: refunds, charge-backs, revocations.
public struct VoidedPurchases: Sendable {
    public struct Item: Sendable, Hashable {
        public var purchaseToken: String
        public var orderID: String
        public var voidedAt: Timestamp
        /// Google's number, or its name.
        public var reason: String?
    }

    public var items: [Item]
    /// Token of the next page; nil at the end.
    public var next: String?

    /// What names no purchase, or no time, is left out.
    init(_ json: JSONValue) {
        items = (json["voidedPurchases"]?.list ?? []).compactMap { item in
            guard let token = item["purchaseToken"]?.text, let voidedAt = item["voidedTimeMillis"]?.moment else {
                return nil
            }
            return Item(
                purchaseToken: token, orderID: item["orderId"]?.text ?? "", voidedAt: voidedAt,
                reason: item["voidedReason"]?.scalarText)
        }
        next = json["tokenPagination"]?["nextPageToken"]?.text
    }
}
