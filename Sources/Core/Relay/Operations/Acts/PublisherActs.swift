public import RelayCore

/// Acts on publishers, their keys and their offers.
extension Act<Bool> {
    /// Adds a publisher. The outcome is whether it is new; an existing one stays as it is.
    public static func add(publisher id: PublisherID) -> Self {
        Act(.publisherAdded) { store, _, _ in
            let isNew = try await store.publishers.add(id)
            return (isNew, isNew ? Record(id.text, of: id) : nil)
        }
    }

    /// Moves a publisher from its own account at Cleeng to the common one. The outcome is whether it had its own.
    public static func useCommonAccount(_ id: PublisherID) -> Self {
        Act(.publisherShares) { store, _, _ in
            let had = try await store.publishers.forgetAccount(of: id)
            return (had, had ? Record(id.text, of: id) : nil)
        }
    }

    /// Revokes a key; running copies notice within two seconds. The outcome is whether the key was valid.
    public static func revoke(_ id: APIKeyID) -> Self {
        Act(.keyRevoked) { store, actor, _ in
            if let publisher = try await store.keys.revoke(id, in: actor.scope) {
                return (true, Record(id.text, of: publisher))
            }
            let known = try await store.keys.list(includingRevoked: true, in: actor.scope)
            guard known.contains(where: { $0.id == id }) else { throw ActRefusal.unknown(.key) }
            return (false, nil)
        }
    }
}

extension Act<String> {
    /// Creates an API key. The outcome is the key itself, which cannot be read a second time.
    ///
    /// - Parameter publisher: nil: the key is valid for every publisher.
    public static func createKey(_ role: KeyRole, name: String, of publisher: PublisherID?, app: BundleID?) -> Self {
        Act(.keyCreated) { store, _, _ in
            if let publisher { try await store.check(publisher) }
            var generator = SystemRandomNumberGenerator()
            let key = try await store.keys.create(
                role: role, name: name, publisher: publisher ?? .first, app: app ?? "",
                seesAllPublishers: publisher == nil, using: &generator)
            let owner = publisher?.text ?? APIKey.allPublishers
            return (
                key, Record(APIKey.id(in: key)?.text ?? "", of: publisher, remark: "\(role.name) of \(owner): \(name)")
            )
        }
    }
}

extension Act<Void> {
    /// Adds offers of a publisher.
    ///
    /// - Parameter replacesAll: deletes all known offers of the publisher first.
    public static func importOffers(_ offers: [Offer], of publisher: PublisherID, replacesAll: Bool = false) -> Self {
        Act(.offersImported) { store, _, _ in
            try await store.check(publisher)
            try await store.offers.put(offers, of: publisher, replacing: replacesAll)
            let remark = "\(offers.count) offers\(replacesAll ? ", all others gone" : "")"
            return ((), Record(publisher.text, of: publisher, remark: remark))
        }
    }

    /// Deletes an offer, or one of its products.
    ///
    /// - Parameter product: nil: the whole offer.
    public static func remove(offer id: OfferID, product: ProductID?, of publisher: PublisherID) -> Self {
        Act(.offerRemoved) { store, _, _ in
            guard try await store.offers.remove(id, product: product, of: publisher) else {
                throw ActRefusal.unknown(.offer)
            }
            return ((), Record(id.text, of: publisher, remark: "of \(publisher)"))
        }
    }
}

extension RelayStore {
    /// Throws for an unknown publisher, so that a mistyped name creates none. Creates the first publisher if it does
    /// not exist yet.
    func check(_ publisher: PublisherID) async throws {
        guard publisher != .first else { return try await webhooks.ensureFirstPublisher() }
        let known = try await publishers.ids()
        guard known.contains(publisher) else {
            throw ActRefusal.noSuchPublisher(publisher, known: known.sorted { $0.text < $1.text })
        }
    }
}
