extension SimulatedCleeng {
    /// Makes a customer on first sight, with the behaviour that the email's plus tags or the default ask for.
    mutating func meet(_ email: CustomerEmail) {
        if let customer = customers[email] {
            if case .standard(let generation) = customer.source, generation != standardGeneration {
                adopt(standard, from: .standard(generation: standardGeneration), for: email)
            }
            return
        }
        let customer = Customer(email: email, id: makeCustomerId(), firstSeenAt: now)
        emailsById[customer.id] = email
        if let forgotten = customers.insert(customer, for: email) {
            emailsById[forgotten.value.id] = nil
        }
        let tagged = Behaviour(plusTags: email.plusTags)
        if tagged.names.isEmpty {
            adopt(standard, from: .standard(generation: standardGeneration), for: email)
        } else {
            adopt(tagged, from: .plusTags, for: email)
        }
    }

    /// Gives a customer a behaviour, used-up troubles included anew, and the offers that it says are held already.
    mutating func adopt(_ behaviour: Behaviour, from source: Customer.BehaviourSource, for email: CustomerEmail) {
        customers[email]?.behaviour = behaviour
        customers[email]?.source = source
        let held = (behaviour.holdsStandardOffers ? settings.heldOffers : []) + behaviour.heldOffers
        guard !held.isEmpty else { return }
        customers[email]?.isKnown = true
        for offer in held where customers[email]?.entitlements.contains(where: { $0.offerId == offer }) == false {
            let id = makeSubscriptionId()
            let entitlement = Entitlement(
                subscriptionId: id, originalTransactionId: "held-\(id)", offerId: offer, status: behaviour.status,
                grantedAt: now, expiresAt: expiry(expired: behaviour.expired, from: now), appType: "ios")
            customers[email]?.add(entitlement)
        }
    }

    /// An hour before a time, or a period after it.
    func expiry(expired: Bool, from moment: Moment) -> Moment {
        moment.adding(milliseconds: expired ? -3_600_000 : settings.periodMilliseconds)
    }

    /// The tags that an offer opens: its own id unless set.
    func tags(of offer: OfferId) -> [String] {
        offerTags[offer] ?? [offer.text]
    }
}
