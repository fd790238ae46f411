public import RelayCore

extension ExternalStoreAnswer {
    /// - Parameters:
    ///   - asked: the app that the query named besides the purchase; nil if none.
    ///   - store: the store's name for publishers.
    ///   - acknowledges: whether the store requires an acknowledgement of grants.
    public init(_ answer: StoreAnswer<StoreSubscription>, asked: BundleID?, store: String, acknowledges: Bool = false) {
        switch answer {
        case .found(let purchase):
            // A consumable, or a purchase with missing fields, is still a purchase.
            guard let statement = purchase.ledgerStatement ?? (purchase.state.isPurchase ? LedgerStatement() : nil)
            else {
                let state = purchase.state == .pending ? Verification.unpaid : ": it is \(purchase.state.rawValue)"
                self = .no("\(store) has no paid subscription by that name\(state)")
                return
            }
            self = .found([
                ExternalSubscription(
                    key: purchase.ledgerKey, environment: purchase.environment, statement: statement, bundleID: asked,
                    productID: purchase.productID, isTrial: purchase.isTrial,
                    isSubscription: purchase.kind == .subscription,
                    awaitsAcknowledgement: acknowledges && purchase.isAcknowledged == false
                        ? purchase.kind == .subscription ? .subscription : .product : nil,
                    accountToken: purchase.accountToken)
            ])
        case .notAPurchase("gone"): self = .ended("\(store) says that it is over, and nothing more of it")
        case .notAPurchase(let detail): self = .no("\(store) says no: \(detail)")
        case .misconfigured(let why): self = .misconfigured(why)
        case .tryAgain(_, let retryAfter): self = .tryAgain(after: retryAfter)
        }
    }
}
