public import RelayCore
public import StoreAPI

extension SubscriptionPurchaseV2 {
    /// The same in the words that all stores share.
    ///
    /// The subscription is known by its purchase token. That is what the app sends, what notifications name, what Google is asked by,
    /// and what the next token links to (`linkedPurchaseToken`, on a change of plan or a new sign-up before the end): order ids are
    /// not linked, and of one that ended long ago nothing can be asked any more.
    ///
    /// - Parameter readAt: when Google was asked.
    public func subscription(readAt: Timestamp) -> StoreSubscription {
        var subscription = StoreSubscription(
            .google, .subscription, key: TransactionID(token), items: lineItems.map(item), state: storeState,
            rawState: state,
            isTest: isTest, readAt: readAt)
        // A plan that was never paid for takes nobody's place.
        subscription.previousKey = storeState.isPurchase ? TransactionID(linkedPurchaseToken) : nil
        subscription.firstPurchasedAt = startTime
        subscription.resumesAt = storeState == .paused ? autoResumeTime : nil
        subscription.isAcknowledged = acknowledgementState.flatMap { known[$0] }
        subscription.accountID = obfuscatedExternalAccountID
        // Google moves the expiry of what is in grace to the end of grace.
        if storeState == .inGrace { subscription.graceUntil = subscription.expiresAt }
        subscription.cancellation = storeCancellation
        return subscription
    }

    private var known: [String: Bool] {
        ["ACKNOWLEDGEMENT_STATE_PENDING": false, "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED": true]
    }

    private func item(_ line: LineItem) -> StoreSubscription.Item {
        var item = StoreSubscription.Item(productID: line.productID)
        item.basePlanID = line.basePlanID
        item.offerID = line.offerID
        // The last order may be one that was not paid.
        item.orderID = TransactionID(line.latestSuccessfulOrderID ?? latestOrderID)
        item.expiresAt = line.expiryTime
        item.autoRenews =
            switch line.plan {
            case .autoRenewing(let isEnabled): isEnabled
            case .prepaid: false
            case nil: nil
            }
        item.nextProductID = ProductID(line.deferredProductID)
        item.isTrial = line.offerPhase.map { $0 == "freeTrial" }
        item.isIntro = line.offerPhase.map { $0 == "introductoryPrice" }
        item.hasAgreedToPrice =
            switch line.priceChangeState {
            case "OUTSTANDING", "PENDING": false
            case "CONFIRMED", "COMPLETED": true
            default: nil
            }
        return item
    }

    private var storeState: StoreState {
        switch state {
        case "SUBSCRIPTION_STATE_PENDING": .pending
        case "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED": .pendingCanceled
        case "SUBSCRIPTION_STATE_ACTIVE": .active
        case "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": .inGrace
        case "SUBSCRIPTION_STATE_ON_HOLD": .onHold
        case "SUBSCRIPTION_STATE_PAUSED": .paused
        case "SUBSCRIPTION_STATE_CANCELED": .canceled
        case "SUBSCRIPTION_STATE_EXPIRED": .expired
        case "SUBSCRIPTION_STATE_REVOKED": .revoked
        // Without a beginning nothing was ever granted, whatever it is called.
        default: startTime == nil ? .pending : .unknown
        }
    }

    /// The context stands in what is canceled or expired alone.
    private var storeCancellation: StoreCancellation? {
        guard let cancellation else {
            return storeState == .canceled || storeState == .expired || storeState == .revoked
                ? StoreCancellation(.unknown) : nil
        }
        let reason: StoreCancellation.Reason =
            switch (cancellation.kind, cancellation.surveyReason) {
            case ("userInitiatedCancellation", "CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE"): .customerNotEnoughUse
            case ("userInitiatedCancellation", "CANCEL_SURVEY_REASON_TECHNICAL_ISSUES"): .customerTechnicalIssues
            case ("userInitiatedCancellation", "CANCEL_SURVEY_REASON_COST_RELATED"): .customerCost
            case ("userInitiatedCancellation", "CANCEL_SURVEY_REASON_FOUND_BETTER_APP"): .customerFoundBetter
            case ("userInitiatedCancellation", "CANCEL_SURVEY_REASON_OTHERS"): .customerOther
            case ("userInitiatedCancellation", _): .customer
            case ("systemInitiatedCancellation", _): .system
            case ("developerInitiatedCancellation", _): .developer
            case ("replacementCancellation", _): .replaced
            default: .unknown
            }
        return StoreCancellation(reason, at: cancellation.time)
    }
}
