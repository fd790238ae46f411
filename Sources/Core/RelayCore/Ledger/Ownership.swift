/// Owners of subscriptions after a batch of grants. ``OwnershipClaim`` has the rules for one claim against one owner.
///
/// Claims are decided one after the other, the newest first. Among customers of one batch, only the newest claim can
/// take the subscription.
///
/// `ownerNo` counts the owners of a subscription, and a granted validation carries the number of its owner. The foreign
/// key between them makes the database refuse a commit that would leave two customers granted.
public struct Ownership: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// Granted on this subscription, with its owner's number.
        case granted(SubscriptionName, ownerNo: Int32)
        /// The store had refunded or revoked the purchase. It gives no access and does not change the owner.
        case revoked(reason: String)
        /// The read may show an intermediate state of a transfer: see ``OwnershipClaim/Verdict/readsAgain``.
        case readTooOld
        /// The worker must ask Cleeng whether the owner is still entitled.
        case ownerInDoubt(CurrentOwner)
    }

    /// A change of owner.
    public struct Transfer: Sendable, Equatable {
        public var subscription: SubscriptionName
        public var to: ValidationID
        public var toCustomer: CustomerID
        public var from: ValidationID
        public var fromCustomer: CustomerID

        public init(
            subscription: SubscriptionName, to: ValidationID, toCustomer: CustomerID, from: ValidationID,
            fromCustomer: CustomerID
        ) {
            self.subscription = subscription
            self.to = to
            self.toCustomer = toCustomer
            self.from = from
            self.fromCustomer = fromCustomer
        }
    }

    /// A validation whose customer becomes the owner, or whose purchase becomes the owner's newest.
    public struct NewOwner: Sendable, Equatable {
        public var id: ValidationID
        public var name: SubscriptionName
        public var expiresAt: Timestamp?
        public var ownerNo: Int32

        public init(id: ValidationID, name: SubscriptionName, expiresAt: Timestamp?, ownerNo: Int32) {
            self.id = id
            self.name = name
            self.expiresAt = expiresAt
            self.ownerNo = ownerNo
        }
    }

    /// Outcomes in the order of the grants.
    public private(set) var outcomes: [Outcome] = []
    public internal(set) var transfers: [Transfer] = []
    /// Changes of customers' purchases.
    public internal(set) var changes: [CustomerChange] = []
    /// At most one for each subscription.
    public internal(set) var newOwners: [NewOwner] = []
    /// Grants with a subscription of their own; see ``SubscriptionName/alone(_:)``.
    public internal(set) var alone: [NewOwner] = []
    /// The grants' subscriptions with the owners that they leave.
    public private(set) var subscriptions: [SubscriptionName: Subscription] = [:]

    /// A batch without grants.
    public init() {}

    /// - Parameters:
    ///   - grants: grants with access, whose leases are held.
    ///   - subscriptions: the subscription of each grant, as read from the database.
    /// - Throws: ``UnknownSubscription`` if one is missing.
    public init(
        _ grants: [Grant], on subscriptions: [SubscriptionName: Subscription]
    ) throws(UnknownSubscription) {
        var subscriptions = subscriptions
        var outcomes = [Outcome](repeating: .readTooOld, count: grants.count)
        for index in grants.indices.sorted(by: { grants[$1].isOlder(than: grants[$0]) }) {
            let name = grants[index].name
            guard var subscription = subscriptions[name] else { throw UnknownSubscription(name: name) }
            outcomes[index] = decide(grants[index], &subscription)
            subscriptions[name] = subscription
        }
        (self.outcomes, self.subscriptions) = (outcomes, subscriptions)
    }

    /// A grant on a subscription that was not read.
    public struct UnknownSubscription: Error {
        public var name: SubscriptionName
    }
}

/// Present owner of a subscription that is granted to another customer.
public struct CurrentOwner: Sendable, Equatable {
    public var key: CustomerKey
    public var email: EmailAddress
    /// The offer that the grant is for.
    public var offerID: OfferID

    public init(key: CustomerKey, email: EmailAddress, offerID: OfferID) {
        self.key = key
        self.email = email
        self.offerID = offerID
    }
}

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
