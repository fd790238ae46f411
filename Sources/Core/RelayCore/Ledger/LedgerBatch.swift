/// The changes of one ledger transaction, and what follows from several of them together.
public struct LedgerBatch: Sendable {
    public private(set) var all: [LedgerChange]

    /// Applies statements, then continues former ids of the same batch under their new ids.
    ///
    /// - Parameters:
    ///   - messages: one for each subscription.
    ///   - found: each message's subscription.
    public init(
        _ messages: [LedgerMessage], found: [LedgerChange.Found], terms: LedgerChange.Terms,
        offers: LedgerChange.Offers
    ) {
        all = zip(messages, found).map { LedgerChange($0, found: $1, terms: terms) }
        let places = Dictionary(all.indices.map { (messages[$0].name, $0) }) { first, _ in first }
        for index in all.indices {
            // Ids that moved to the former id earlier now belong to the new id.
            for old in messages[index].statement.movesFrom {
                guard let place = places[messages[index].name.under(old)] else { continue }
                let former = all[place]
                // An id of which only this link is known may itself continue one that has an owner.
                all[place].isFollowed = all[index].found.owner != nil || !former.isOnlyLinked
                let before = former.ledger.movedFrom.subtracting([messages[index].name.originalTransactionID])
                all[index].ledger.apply(LedgerStatement(movesFrom: before))
                // Access granted under the former id continues here.
                all[index].granted.formUnion(former.granted)
                if all[index].ledger.granted == nil, let granted = former.ledger.granted {
                    all[index].ledger.apply(LedgerStatement(granted: granted))
                }
            }
            all[index].evaluate(offers)
        }
    }

    /// Each subscription with a new id, and with its former one of the same batch.
    package var moved: [(old: LedgerChange, new: LedgerChange)] {
        all.flatMap { new in
            all.filter { new.message.statement.movesFrom.contains($0.message.name.originalTransactionID) }
                .map { (old: $0, new: new) }
        }
    }

    /// Former and new ids of subscriptions whose owner moves to the new id, which has none.
    public var ownerMoves: [(from: SubscriptionName, to: SubscriptionName)] {
        all.filter { $0.found.owner == nil }.map(\.message).flatMap { message in
            message.statement.movesFrom.sorted().map { (from: message.name.under($0), to: message.name) }
        }
    }

    /// Subscriptions that get an owner by a move, also by several in this batch. Their stores may require an
    /// acknowledgement of each new id.
    public var newlyOwned: [LedgerChange] {
        var owned = Set(all.filter { $0.found.owner != nil }.map(\.message.name))
        var count = -1
        while owned.count > count {
            count = owned.count
            for move in ownerMoves where owned.contains(move.from) { owned.insert(move.to) }
        }
        return all.filter { $0.found.owner == nil && $0.ledger.movedTo == nil && owned.contains($0.message.name) }
    }

    /// Transfers caused by moves between ids of two owners. The owner of the new id keeps the subscription. If the
    /// former id was granted later than the new id, both owners keep their access.
    public var transfers: [Ownership.Transfer] {
        moved.compactMap { old, new in
            guard let owner = new.found.owner, let to = new.found.ownerValidation, let from = old.found.ownerValidation,
                let before = old.found.owner, before.customer != owner.customer,
                new.found.ledger.granted?.at ?? .earliest >= old.found.ledger.granted?.at ?? .earliest
            else { return nil }
            return Ownership.Transfer(
                subscription: new.message.name, to: to, toCustomer: owner.customer, from: from,
                fromCustomer: before.customer)
        }
    }

    /// Subscriptions whose present product has another offer than the owner's row.
    public var presentOffers: [(name: SubscriptionName, offer: OfferID)] {
        all.compactMap { change in
            guard let offer = change.access.present, let owner = change.found.owner, owner.offerID != offer else {
                return nil
            }
            return (change.message.name, offer)
        }
    }

    /// Changes for customers whose purchases changed, or whose subscription has a new id. The first one of a customer
    /// gives the webhook's reason. Where a grant finds that access has ended, that is the end.
    ///
    /// - Parameters:
    ///   - grants: changes by the recorded grants.
    ///   - trace: trace of the transaction; nil if it has none.
    public func customerChanges(after grants: [CustomerChange] = [], trace: String?) -> [CustomerChange] {
        let ended = Set(all.filter { $0.hasNewStatus && $0.shown?.status.grantsAccess == false }.map(\.message.name))
        func isEnd(_ change: CustomerChange) -> Bool {
            ended.contains(change.subscription)
                && grants.contains { $0.customer == change.customer && $0.subscription == change.subscription }
        }
        let changes = ownChanges(trace: trace)
        return changes.filter(isEnd) + grants + changes.filter { !isEnd($0) }
    }

    private func ownChanges(trace: String?) -> [CustomerChange] {
        func change(
            _ one: LedgerChange, _ username: Username, _ reason: CustomerChange.Reason
        ) -> CustomerChange {
            CustomerChange(
                customer: CustomerName(publisher: one.message.name.publisher, username: username), reason: reason,
                subscription: one.message.name, trace: trace)
        }
        let ofMoves = moved.filter { $0.new.found.owner == nil }.flatMap { old, new in
            // A customer who had only claimed the new id by name loses it if the old id was granted to an owner.
            [old.found.username, old.found.owner == nil ? nil : new.found.username].compactMap(\.self)
                .map { change(new, $0, .other) }
        }
        return ofMoves
            + all.compactMap { one in
                // Publishers never see standalone subscriptions as purchases.
                guard let username = one.found.username, !one.message.name.standsAlone else { return nil }
                if let next = one.ledger.movedTo {
                    // The new id reports these purchases, so only the move itself is a change.
                    return one.found.ledger.movedTo == next ? nil : change(one, username, .other)
                }
                return one.notifiesPublisher ? change(one, username, one.reason) : nil
            }
    }
}
