extension Synchronization {
    /// What comes of it.
    /// - Parameter owner: to whom the transaction's subscription was given last.
    func result(
        of transaction: StoreTransaction, owner: Subscription.Owner?, at moment: Moment
    ) -> (SynchronizationResult, accessGranted: Bool) {
        switch behaviour.storeKit2.finding {
        case .unknown: return (.transactionNotFound, false)
        case .expired: return (.expired, false)
        case nil: break
        }
        // Whether a subscription runs is told by its status, not by when a transaction of it ends: it may have been
        // renewed since.
        if let owner, owner.status.entitles {
            switch (kind, owner.email == email) {
            case (.transfer, false): return (.transferred, true)
            case (.registration, false): return (.unchanged, false)
            case (.transfer, true): return (.unchanged, true)
            // Of another offer it is an upgrade.
            case (.registration, true): if owner.offerId == transaction.offerId { return (.unchanged, true) }
            }
        }
        if transaction.isOver(at: moment) || behaviour.status == .terminated { return (.expired, false) }
        switch kind {
        case .registration: return (.registered, true)
        case .transfer: return (owner == nil ? .transactionNotFound : .expired, false)
        }
    }
}
