extension SimulatedCleeng {
    /// Finalizes what is due, in order, as far as it comes before a time, or before a number at that time.
    mutating func settle(before limit: (moment: Moment, sequence: Int)) {
        while let due = settlements.pop(if: { ($0.dueAt, $0.synchronization.sequence) < limit }) {
            catchUp(to: due.dueAt)
            finalize(due.synchronization, at: due.dueAt)
        }
    }

    private mutating func finalize(_ synchronization: Synchronization, at moment: Moment) {
        guard customers[synchronization.email] != nil else { return }
        let transaction = transaction(synchronization.transactionId)
        let key = transaction.originalTransactionId
        let owner = subscriptions[key]?.owner
        let (result, accessGranted) = synchronization.result(of: transaction, owner: owner, at: moment)
        let entitlement: Entitlement? =
            switch result {
            case .registered: registered(transaction, synchronization.behaviour, at: moment)
            case .transferred: owner.map { moved($0, transaction, at: moment) }
            case .unchanged, .expired, .transactionNotFound: nil
            }
        let outcome = Synchronization.Outcome(
            result: result, accessGranted: accessGranted, offerId: entitlement?.offerId ?? transaction.offerId,
            originalTransactionId: key)
        synchronizations.finish(synchronization, outcome)
        tell(synchronization, outcome)
        if let entitlement { establish(entitlement, for: synchronization.email, by: .synchronization) }
    }

    private mutating func registered(
        _ transaction: StoreTransaction, _ behaviour: Behaviour, at moment: Moment
    ) -> Entitlement {
        let end = behaviour.expired ? nil : transaction.expiresAt
        return Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: transaction.originalTransactionId,
            offerId: transaction.offerId, status: behaviour.status, grantedAt: moment,
            expiresAt: end ?? expiry(expired: behaviour.expired, from: moment), appType: "ios")
    }

    /// What the owner has, as the new owner will have it.
    private mutating func moved(
        _ owner: Subscription.Owner, _ transaction: StoreTransaction, at moment: Moment
    ) -> Entitlement {
        let held = customers[owner.email]?.entitlements.last { $0.subscriptionId == owner.subscriptionId }
        return Entitlement(
            subscriptionId: makeSubscriptionId(), originalTransactionId: transaction.originalTransactionId,
            offerId: owner.offerId, status: owner.status, grantedAt: moment,
            expiresAt: held?.expiresAt ?? expiry(expired: false, from: moment), appType: held?.appType ?? "ios")
    }

    /// Tells how a synchronization ended.
    private mutating func tell(_ synchronization: Synchronization, _ outcome: Synchronization.Outcome) {
        tell(
            .synchronizationResult,
            [
                "synchronizationId": .string(synchronization.id),
                "transactionId": .string(synchronization.transactionId),
                "originalTransactionId": .string(outcome.originalTransactionId),
                "cleengCustomerId": .int(Int64(synchronization.customerId)),
                "accessGranted": .bool(outcome.accessGranted), "offerId": .string(outcome.offerId.text),
                "result": .string(outcome.result.rawValue),
            ], of: synchronization.email, causedBy: synchronization.email)
    }
}
