import Postgres
import RelayCore

/// Decides a subscription's owner after grants. ``OwnershipClaim`` has the rules; this reads what they need, and writes
/// the result.
///
///     open   makes the owner's row of a subscription that nobody has; locks and reads that of one that somebody has
///     judge  one claim after the other, the newest first: of one batch it alone can take the subscription
///     write  moves owners on; a grant that stands alone gets a subscription of its own
///
/// `owner_no` counts the owners of a subscription, and a granted validation carries the number of its owner: by the foreign key between them
/// the database refuses a commit that would leave two customers granted.
struct Ownership: Sendable {
    enum Verdict: Sendable, Equatable {
        /// Granted on this subscription, under its owner's number.
        case granted(SubscriptionName, ownerNo: Int32)
        /// The store had taken the purchase back: it opens nothing, and takes the subscription from nobody.
        case revoked(reason: String)
        /// What was read may be a moment on the way: see ``OwnershipClaim/Verdict/readsAgain``.
        case readTooOld
        /// Cleeng is to be asked whether the owner is entitled still.
        case ownerInDoubt(RivalOwner)
    }

    struct Judgement: Sendable {
        /// In the order of the grants.
        var verdicts: [Verdict] = []
        var moved: [Transfer] = []
        /// Changes of customers' purchases.
        var changes: [CustomerChange] = []
        var takers: [Taker] = []
        var alone: [Taker] = []
        /// Grants that made their subscription's row: nobody had it before.
        var makers: Set<ValidationID> = []
    }

    struct Transfer: Sendable {
        var subscription: SubscriptionName
        var to: ValidationID
        var toCustomer: CustomerID
        var from: ValidationID
        var fromCustomer: CustomerID
    }

    struct Taker: Sendable {
        var id: ValidationID
        var name: SubscriptionName
        var expiresAt: Timestamp?
        var ownerNo: Int32
    }

    /// A grant whose lease is held, with what else its claim needs.
    struct Grant: Sendable {
        var write: PursuitWrite
        var username: Username
        /// See ``GrantedLedger/reasonToEnd``.
        var reasonToEnd: String?

        var name: SubscriptionName { write.claimed.name }
    }

    /// A subscription as it was found, and as it is after each claim.
    struct Found {
        struct Owner {
            var customer: CustomerID
            var email: EmailAddress
            var validation: ValidationID
            var acceptedAt: Timestamp
            var since: Timestamp
            var unsettledUntil: Timestamp
            /// See ``OwnershipClaim/Owner/newestWaiting``.
            var newestWaiting: Timestamp?
        }
        var owner: Owner?
        var username: Username
        var ownerNo: Int32
        /// The row was made by this transaction, of this validation.
        var isMadeBy: ValidationID?
    }

    /// - Parameters:
    ///   - grants: those whose leases are held.
    ///   - rows: the answer to ``open(_:)``.
    static func judge(_ grants: [Grant], opened rows: PostgresRows) throws -> Judgement {
        let ids = Set(grants.map(\.write.claimed.id))
        var found: [SubscriptionName: Found] = [:]
        for row in rows {
            found[try row.subscriptionName()] = try Found(row, of: ids)
        }
        var judgement = Judgement()
        var verdicts: [Int: Verdict] = [:]
        let order = grants.indices.sorted {
            let (left, right) = (grants[$0].write.claimed, grants[$1].write.claimed)
            return (left.pursuit.acceptedAt, left.id.high, left.id.low)
                > (right.pursuit.acceptedAt, right.id.high, right.id.low)
        }
        for index in order {
            guard var one = found[grants[index].name] else { throw StoreError.missingRow("a subscription") }
            verdicts[index] = judgement.judge(grants[index], &one)
            found[grants[index].name] = one
        }
        judgement.verdicts = try grants.indices.map { index in
            guard let verdict = verdicts[index] else { throw StoreError.missingRow("a verdict") }
            return verdict
        }
        return judgement
    }
}

extension Ownership.Judgement {
    /// - Parameter found: changed to what it is with this grant.
    fileprivate mutating func judge(_ grant: Ownership.Grant, _ found: inout Ownership.Found) -> Ownership.Verdict {
        let (claimed, name) = (grant.write.claimed, grant.name)
        guard let change = grant.write.change else { return .granted(name, ownerNo: found.ownerNo) }
        let rival = found.owner.flatMap { $0.customer == claimed.customer ? nil : $0 }
        let claim = OwnershipClaim(
            acceptedAt: claimed.pursuit.acceptedAt, observedAt: change.observedAt ?? change.at,
            entitledBefore: grant.write.pursuit.entitledBefore, isProven: change.isProven, rival: grant.write.rival,
            patience: grant.write.patience)
        if let reason = grant.reasonToEnd {
            // Who had the offer before the purchase was sent may have it by something else. All others have it by this purchase alone.
            guard rival != nil, claim.entitledBefore == true else { return revoke(grant, reason, found) }
        }
        switch claim.judge(
            against: rival.map {
                .init(
                    acceptedAt: $0.acceptedAt, since: $0.since, unsettledUntil: $0.unsettledUntil,
                    newestWaiting: $0.newestWaiting)
            })
        {
        case .readsAgain: return .readTooOld
        case .asksOfOwner:
            guard let rival else { return .readTooOld }
            return .ownerInDoubt(
                RivalOwner(
                    key: CustomerKey(publisher: name.publisher, customer: rival.customer), email: rival.email,
                    offerID: claimed.offerID))
        case .standsAlone:
            let own = name.alone(claimed.id)
            alone.append(
                Ownership.Taker(id: claimed.id, name: own, expiresAt: change.expiresAt, ownerNo: 1))
            return .granted(own, ownerNo: 1)
        case .takes:
            if let reason = grant.reasonToEnd { return revoke(grant, reason, found) }
            return take(grant, change, &found, from: rival)
        }
    }

    private mutating func revoke(
        _ grant: Ownership.Grant, _ reason: String, _ found: Ownership.Found
    ) -> Ownership.Verdict {
        if found.isMadeBy == grant.write.claimed.id {
            changes.append(customerChange(grant.username, CustomerChange.Reason(ending: reason), grant))
        }
        return .revoked(reason: reason)
    }

    private mutating func take(
        _ grant: Ownership.Grant, _ change: Decision.Change, _ found: inout Ownership.Found,
        from rival: Ownership.Found.Owner?
    ) -> Ownership.Verdict {
        let (claimed, name) = (grant.write.claimed, grant.name)
        if found.isMadeBy == claimed.id {
            changes.append(customerChange(grant.username, .purchased, grant))
            makers.insert(claimed.id)
            return .granted(name, ownerNo: found.ownerNo)
        }
        // An older request of the owner's changes nothing about who owns it, nor by which purchase.
        if rival == nil, let owner = found.owner, owner.acceptedAt > claimed.pursuit.acceptedAt {
            return .granted(name, ownerNo: found.ownerNo)
        }
        if let rival {
            moved.append(
                Ownership.Transfer(
                    subscription: name, to: claimed.id, toCustomer: claimed.customer, from: rival.validation,
                    fromCustomer: rival.customer))
            found.ownerNo += 1
        }
        changes.append(customerChange(grant.username, .purchased, grant))
        if found.username != grant.username { changes.append(customerChange(found.username, .other, grant)) }
        takers.append(
            Ownership.Taker(
                id: claimed.id, name: name, expiresAt: change.expiresAt, ownerNo: found.ownerNo))
        found.username = grant.username
        found.owner = Ownership.Found.Owner(
            customer: claimed.customer, email: claimed.email, validation: claimed.id,
            acceptedAt: max(claimed.pursuit.acceptedAt, found.owner?.acceptedAt ?? claimed.pursuit.acceptedAt),
            since: change.at, unsettledUntil: change.at + (claimed.pursuit.deadline - claimed.pursuit.acceptedAt),
            newestWaiting: found.owner?.newestWaiting)
        return .granted(name, ownerNo: found.ownerNo)
    }

    /// Change for the owner's previous username.
    private func customerChange(
        _ username: Username, _ reason: CustomerChange.Reason, _ grant: Ownership.Grant
    ) -> CustomerChange {
        CustomerChange(
            customer: CustomerName(publisher: grant.name.publisher, username: username), reason: reason,
            subscription: grant.name, trace: grant.write.claimed.trace)
    }
}
