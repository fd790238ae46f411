import OutboundHTTP
import RelayCore
import StoreAPI

extension StoreSubscription {
    private static let mostPromotions = 20

    /// A purchase as the Receipt Verification Service tells of it. Nil for what names no product. What Amazon adds or leaves out breaks
    /// nothing.
    ///
    /// Amazon has no word for how a purchase stands: it follows from the dates.
    ///
    /// | type | dates | state |
    /// | --- | --- | --- |
    /// | `SUBSCRIPTION` | `cancelDate` | expired |
    /// | | `gracePeriodEndDate` to come, `renewalDate` gone by | in grace |
    /// | | `autoRenewing` false | canceled |
    /// | | else | active |
    /// | `ENTITLED` | `cancelDate` | revoked |
    /// | | else | active |
    ///
    /// - Parameters:
    ///   - receiptID: of a subscription the same one over all renewals.
    ///   - readAt: when Amazon was asked.
    init?(amazon json: JSONValue, receiptID: String, readAt: Timestamp) {
        // Of a subscription the product is the parent's.
        guard let product = json["productId"]?.text, let type = json["productType"]?.text else { return nil }
        // An answer about one name must not be given for another.
        guard json["receiptId"].map({ TransactionID($0.text) == TransactionID(receiptID) }) ?? true else { return nil }
        let renewal = json["renewalDate"]?.moment
        // When it ended: at once where customer service ended it, else at the end of the period. Nil where it runs.
        let cancel = json["cancelDate"]?.moment
        let grace = json["gracePeriodEndDate"]?.moment
        let autoRenews = json["autoRenewing"]?.flag
        let kind: Kind =
            switch type {
            case "ENTITLED": .oneTime
            case "CONSUMABLE": .consumable
            // What is new, and has an end, is one too.
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

    /// - Parameter code: 0 not known yet, 1 the customer, 2 Amazon, such as for a payment that failed, 4 replaced by another; 3 is
    ///   Amazon's own.
    private static func reason(_ code: Int64?, _ state: StoreState) -> CancelationReason {
        switch code {
        case 1: .customer
        case 2: .system
        case 4: .replaced
        // Renewal can be turned off by the customer alone.
        case nil where state == .canceled: .customer
        default: .unknown
        }
    }
}
