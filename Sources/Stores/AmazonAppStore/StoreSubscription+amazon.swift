import OutboundHTTP
import RelayCore
import StoreAPI

extension StoreSubscription {
    private static let mostPromotions = 20

    /// A purchase from the Receipt Verification Service. Nil if it names no product. Other fields are optional, so that
    /// changes by Amazon break nothing.
    ///
    /// Amazon states no status: it follows from the dates.
    ///
    /// | type | dates | state |
    /// | --- | --- | --- |
    /// | `SUBSCRIPTION` | `cancelDate` | expired |
    /// | | `gracePeriodEndDate` in the future, `renewalDate` in the past | in grace |
    /// | | `autoRenewing` false | canceled |
    /// | | else | active |
    /// | `ENTITLED` | `cancelDate` | revoked |
    /// | | else | active |
    ///
    /// - Parameters:
    ///   - receiptID: for a subscription, the same in all renewals.
    ///   - readAt: when Amazon was asked.
    init?(amazon json: JSONValue, receiptID: String, readAt: Timestamp) {
        // A subscription's product id is the parent's.
        guard let product = json["productId"]?.text, let type = json["productType"]?.text else { return nil }
        // The answer must be about the requested receipt.
        guard json["receiptId"].map({ TransactionID($0.text) == TransactionID(receiptID) }) ?? true else { return nil }
        let renewal = json["renewalDate"]?.moment
        // End of a cancelled subscription: immediate if customer service ended it, else the end of the period. Nil
        // while it runs.
        let cancel = json["cancelDate"]?.moment
        let grace = json["gracePeriodEndDate"]?.moment
        let autoRenews = json["autoRenewing"]?.flag
        let kind: Kind =
            switch type {
            case "ENTITLED": .oneTime
            case "CONSUMABLE": .consumable
            // An unknown type with a renewal date is a subscription too.
            case "SUBSCRIPTION": .subscription
            default: renewal == nil ? .oneTime : .subscription
            }
        let state: StoreState
        if let cancel, cancel <= readAt {
            state = kind == .subscription ? .expired : .revoked
        } else if kind != .subscription {
            state = .active
        } else if let grace, grace > readAt, renewal.map({ $0 <= readAt }) ?? true {
            state = .inGrace
        } else {
            state = autoRenews == false || cancel != nil ? .canceled : .active
        }
        var item = Item(productID: ProductID(product))
        item.orderID = TransactionID(receiptID)
        if kind == .subscription {
            item.expiresAt = state == .inGrace ? grace : cancel ?? renewal
            item.autoRenews = state == .expired ? false : autoRenews
            item.nextProductID = state == .expired ? nil : ProductID(json["deferredSku"]?.text)
            item.isTrial =
                json["freeTrialEndDate"]?.moment.map { $0 > min(readAt, item.expiresAt ?? readAt) } ?? false
            item.isIntro = (json["promotions"]?.list ?? []).prefix(Self.mostPromotions).contains {
                // `Introductory Price - …`, `Promotional Price - …`.
                $0["promotionStatus"]?.text == "InProgress"
                    && $0["promotionType"]?.text?.hasPrefix("Introductory") == true
            }
        }
        self.init(
            .amazon, kind, key: TransactionID(receiptID), items: [item], state: state,
            isTest: json["testTransaction"]?.flag ?? false || json["betaProduct"]?.flag ?? false, readAt: readAt)
        firstPurchasedAt = json["purchaseDate"]?.moment
        if state == .inGrace { (graceUntil, paidUntil) = (grace, renewal) }
        if state == .canceled || state == .expired || state == .revoked {
            cancellation = StoreCancellation(Self.reason(json["cancelReason"]?.integer, state), at: cancel)
        }
    }

    /// - Parameter code: 0 not known yet, 1 the customer, 2 Amazon, for example after a failed payment, 4 replaced by
    ///   another; 3 is reserved by Amazon.
    private static func reason(_ code: Int64?, _ state: StoreState) -> CancelationReason {
        switch code {
        case 1: .customer
        case 2: .system
        case 4: .replaced
        // Only the customer can turn off renewal.
        case nil where state == .canceled: .customer
        default: .unknown
        }
    }
}
