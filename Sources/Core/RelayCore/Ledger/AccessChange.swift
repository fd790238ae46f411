/// A change of the access that a subscription's validations grant to one offer.
public struct AccessChange: Sendable, Hashable {
    public var name: SubscriptionName
    /// The customer whose access continues. An end of access applies to every customer.
    public var owner: CustomerID
    public var offer: OfferID
    public var verdict: AccessVerdict
    /// Text for the validation's timeline.
    public var detail: String
}

extension LedgerBatch {
    /// Changes of access under each subscription's present and former ids.
    public var accessChanges: [AccessChange] {
        // A subscription that has just moved here keeps the owner of its former id.
        let owners = Dictionary(
            all.compactMap { change in change.found.owner.map { (change.message.name, $0) } },
            uniquingKeysWith: { one, _ in one })
        return all.flatMap { change -> [AccessChange] in
            let name = change.message.name
            let names = [name] + change.ledger.movedFrom.sorted().map(name.under)
            guard let owner = names.lazy.compactMap({ owners[$0] }).first else { return [] }
            return change.accessVerdicts.flatMap { offer, verdict, detail -> [AccessChange] in
                // A first grant is written with its end, and nothing else was granted that could go on.
                if change.found.isFirstGrant, names.count == 1, case .goesOn = verdict { return [] }
                return names.map {
                    AccessChange(name: $0, owner: owner.customer, offer: offer, verdict: verdict, detail: detail)
                }
            }
        }
    }
}

extension LedgerChange {
    /// Access by offer. The receipt may be older than the renewal that Cleeng grants access for, so a past end does not
    /// count.
    fileprivate var accessVerdicts: [(offer: OfferID, verdict: AccessVerdict, detail: String)] {
        let event = message.note?.event
        return access.verdicts.sorted { $0.key < $1.key }.map { offer, verdict in
            switch verdict {
            case .goesOn(let end):
                (offer, .goesOn(expiresAt: end.flatMap { $0 > found.now ? $0 : nil }), event ?? "as the store has it")
            case .ends(let reason): (offer, verdict, "\(reason): \(event ?? "its time is over")")
            }
        }
    }
}
