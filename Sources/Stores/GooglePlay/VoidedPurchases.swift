import OutboundHTTP
public import RelayCore
import StoreAPI

/// A page of voided purchases: refunds, chargebacks, revocations.
public struct VoidedPurchases: Sendable {
    public struct Item: Sendable, Hashable {
        public var purchaseToken: String
        public var orderID: String
        public var voidedAt: Timestamp
        /// Google's number or name of the reason.
        public var reason: String?
    }

    public var items: [Item]
    /// Token of the next page; nil on the last one.
    public var next: String?

    /// Leaves out entries without a purchase or a time.
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
