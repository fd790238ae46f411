import Postgres
public import RelayCore

extension SubscriptionStore {
    /// Selects one validation per offer. Order of precedence: granted, pending, ended; then the newest. Index used:
    /// `validations_customer`.
    private static func purchases(of customer: CustomerID, _ offer: OfferID?, _ publisher: PublisherID) -> SQL {
        """
        SELECT DISTINCT ON (v.offer_id) \(Validation.columns), clock_timestamp() AS now
        FROM validations v
        WHERE v.customer = \(.privateText(customer)) AND v.publisher = \(.text(publisher))
          AND (\(.text(offer)) IS NULL OR v.offer_id = \(.text(offer)))
        ORDER BY v.offer_id, v.status = \(ValidationStatus.granted) DESC,
                 v.status = \(ValidationStatus.pending) AND v.deadline > now() DESC, v.accepted_at DESC
        LIMIT 1000
        """
    }

    /// Selects a customer's subscriptions by the offer of the present product, with the columns of the owner's
    /// validation. The ledger gives the status: `in_billing_retry` and `expired` give no access. A subscription with
    /// add-ons also returns its stored ledger, since each add-on has its own offer (``SubscriptionAccess``). Indexes
    /// used: `subscriptions_customer`, the ledgers' primary key. No index serves `IS NOT DISTINCT FROM`. With `=`, the
    /// planner read all of the publisher's subscriptions in a table without statistics.
    private static func subscriptions(of customer: CustomerID, _ offer: OfferID?, _ publisher: PublisherID) -> SQL {
        """
        SELECT coalesce(s.validation_bucket, s.bucket) AS bucket, s.accepted_on - DATE 'epoch' AS day, s.id, s.publisher, s.app,
               ROW(s.sealed_by, s.email) AS email, ROW(s.sealed_by, s.customer) AS customer, s.offer_id,
               CASE WHEN \(SubscriptionState.runs) THEN \(ValidationStatus.granted)
                    ELSE \(ValidationStatus.revoked) END::int2 AS status,
               CASE WHEN \(SubscriptionState.runs) THEN NULL ELSE coalesce(l.reason, 'expired') END AS reason,
               false AS late, s.accepted_at, s.accepted_at AS deadline, s.owned_since AS settled_at,
               coalesce(l.expires_at, s.expires_at) AS expires_at, clock_timestamp() AS now, s.owner_no,
               CASE WHEN \(StoredLedger.hasItems) THEN l.state END AS state, l.granted_at, l.granted_until, l.granted_offer
        FROM subscriptions s
        CROSS JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "s")) OFFSET 0) AS l
        WHERE s.customer = \(.privateText(customer)) AND s.publisher IS NOT DISTINCT FROM \(.text(publisher))
          AND (\(.text(offer)) IS NULL OR s.offer_id = \(.text(offer)) OR \(StoredLedger.hasItems))
          AND l.status IS NOT NULL AND NOT l.has_moved
        ORDER BY s.accepted_at DESC
        LIMIT 1000
        """
    }

    /// Bound of one customer's list of offers.
    private static let mostOffers = 100

    /// A customer's entitlement to an offer now, by the newest purchase or subscription in any app of the publisher.
    ///
    /// - Returns: nil if nothing is known about the customer and offer.
    public func entitlement(
        of customer: CustomerID, to offer: OfferID, publisher: PublisherID
    ) async throws -> Validation? {
        try await entitlements(of: customer, offer, publisher).first
    }

    /// A customer's entitlements to all known offers, the newest first.
    public func entitlements(
        of customer: CustomerID, publisher: PublisherID
    ) async throws -> [Validation] {
        Array(try await entitlements(of: customer, nil, publisher).prefix(Self.mostOffers))
    }

    private func entitlements(
        of customer: CustomerID, _ offer: OfferID?, _ publisher: PublisherID
    ) async throws -> [Validation] {
        var known: [OfferID: Validation] = [:]
        for row in try await database.query(Self.purchases(of: customer, offer, publisher)) {
            let validation = try PurchaseStore.validation(row)
            known[validation.offerID] = validation
        }
        if offer.flatMap({ known[$0]?.status }) != .granted {
            var owned: [OfferID: Validation] = [:]
            for row in try await database.query(Self.subscriptions(of: customer, offer, publisher)) {
                for validation in try validations(row)
                where offer.map({ $0 == validation.offerID }) ?? true {
                    // Rows are newest first. A running subscription takes precedence over a newer ended one.
                    let other = owned[validation.offerID]
                    if other == nil || other?.status != .granted && validation.status == .granted {
                        owned[validation.offerID] = validation
                    }
                }
            }
            for (offer, validation) in owned {
                // Running access replaces any purchase that is not granted. Otherwise the purchase stays: its status is
                // the more exact one.
                if let purchase = known[offer], purchase.status == .granted || validation.status != .granted {
                    continue
                }
                known[offer] = validation
            }
        }
        return known.values.sorted {
            ($0.acceptedAt, $0.offerID) > ($1.acceptedAt, $1.offerID)
        }
    }

    /// The subscription under its present product's offer, and one entry for each add-on whose access is known.
    private func validations(_ row: PostgresRow) throws -> [Validation] {
        let present = try PurchaseStore.stored(row)
        guard try row.get("state", as: String?.self) != nil else { return [present] }
        let ledger = try StoredLedger.read(row, ownerNo: row.get("owner_no"))
        let access = try SubscriptionAccess(ledger, granted: [], at: row.timestamp("now"), leeway: memory.leeway)
        return [present]
            + access.verdicts.filter { $0.key != present.offerID && $0.key != access.present }.map { offer, verdict in
                var item = present
                item.offerID = offer
                switch verdict {
                case .goesOn(let end): (item.status, item.reason, item.expiresAt) = (.granted, nil, end)
                case .ends(let reason):
                    (item.status, item.reason, item.expiresAt) = (.revoked, reason, ledger.itemEnd(of: offer))
                }
                return item
            }
    }

    /// Whether a subscription is held under the offer. Indexes used: the primary key, `validations_subscription`.
    public func holding(of name: SubscriptionName, offer: OfferID) async throws -> OfferHolding {
        let row = try await database.query(
            """
            SELECT bool_or(o.offer_id = \(.text(offer))) AS same
            FROM (
                SELECT s.offer_id FROM subscriptions s WHERE \(name.isKey(of: "s"))
                UNION ALL
                SELECT v.offer_id FROM validations v WHERE \(name.isKey(of: "v")) AND \(Validation.wasGranted)
            ) AS o
            """
        ).first
        guard let same = try row?.get("same", as: Bool?.self) else { return .nothing }
        return same ? .offer : .others
    }
}

/// The offers under which a subscription is owned or was granted, compared with a given one.
public enum OfferHolding: Sendable {
    case nothing
    /// The given offer, possibly with others.
    case offer
    case others
}
