extension Ownership {
    /// - Parameter subscription: updated to its state after this grant.
    mutating func decide(_ grant: Grant, _ subscription: inout Subscription) -> Outcome {
        let otherOwner = subscription.owner.flatMap { $0.customer == grant.customer ? nil : $0 }
        let claim = grant.claim
        if let reason = grant.reasonToEnd {
            // A revoked purchase ends here, unless another customer owns it and this customer had the offer before: then
            // the access may be another purchase's.
            guard otherOwner != nil, claim.entitledBefore == true else { return revoke(grant, reason, subscription) }
        }
        // The owner was read before the batch. After a grant of the batch has taken the subscription, other customers
        // must be read again.
        if otherOwner != nil, subscription.isGranted { return .readTooOld }
        switch claim.judge(against: otherOwner?.claim) {
        case .readsAgain: return .readTooOld
        case .asksOfOwner:
            guard let otherOwner else { return .readTooOld }
            return .ownerInDoubt(
                CurrentOwner(
                    key: CustomerKey(publisher: grant.name.publisher, customer: otherOwner.customer),
                    email: otherOwner.email,
                    offerID: grant.offerID))
        case .standsAlone:
            let own = grant.name.alone(grant.id)
            alone.append(NewOwner(id: grant.id, name: own, expiresAt: grant.change.expiresAt, ownerNo: 1))
            return .granted(own, ownerNo: 1)
        case .takes:
            if let reason = grant.reasonToEnd { return revoke(grant, reason, subscription) }
            return take(grant, &subscription, from: otherOwner)
        }
    }

    private mutating func revoke(_ grant: Grant, _ reason: String, _ subscription: Subscription) -> Outcome {
        if subscription.insertedBy == grant.id {
            changes.append(change(of: grant.username, CustomerChange.Reason(ending: reason), grant))
        }
        return .revoked(reason: reason)
    }

    private mutating func take(_ grant: Grant, _ subscription: inout Subscription, from otherOwner: Owner?) -> Outcome {
        let name = grant.name
        defer { subscription.isGranted = true }
        if subscription.insertedBy == grant.id {
            changes.append(change(of: grant.username, .purchased, grant))
            return .granted(name, ownerNo: subscription.ownerNo)
        }
        let before = subscription.owner?.claim
        // An older request of the owner changes neither the owner nor the purchase behind the ownership.
        if otherOwner == nil, let before, subscription.isGranted || before.acceptedAt > grant.acceptedAt {
            return .granted(name, ownerNo: subscription.ownerNo)
        }
        if let otherOwner {
            transfers.append(
                Transfer(
                    subscription: name, to: grant.id, toCustomer: grant.customer, from: otherOwner.validation,
                    fromCustomer: otherOwner.customer))
            subscription.ownerNo += 1
        }
        changes.append(change(of: grant.username, .purchased, grant))
        if subscription.username != grant.username { changes.append(change(of: subscription.username, .other, grant)) }
        newOwners.append(
            NewOwner(id: grant.id, name: name, expiresAt: grant.change.expiresAt, ownerNo: subscription.ownerNo))
        subscription.username = grant.username
        subscription.owner = Owner(
            of: grant, acceptedAt: max(grant.acceptedAt, before?.acceptedAt ?? grant.acceptedAt),
            newestWaiting: before?.newestWaiting)
        return .granted(name, ownerNo: subscription.ownerNo)
    }

    private func change(of username: Username, _ reason: CustomerChange.Reason, _ grant: Grant) -> CustomerChange {
        CustomerChange(
            customer: CustomerName(publisher: grant.name.publisher, username: username), reason: reason,
            subscription: grant.name, trace: grant.trace)
    }
}
