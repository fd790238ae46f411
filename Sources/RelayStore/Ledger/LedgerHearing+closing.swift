import Foundation
import Postgres
import RelayCore

extension LedgerHearing {
    private static let ledgersSQL = """
        UPDATE ledgers l
        SET state = i.state, status = i.status, will_renew = i.will_renew, expires_at = i.expires_at,
            product_id = i.product_id, auto_renew_product_id = i.auto_renew_product_id, reason = i.reason,
            due_at = CASE WHEN l.parked_at IS NULL THEN i.due_at END, predecessors = i.predecessors,
            transaction_id = i.transaction_id, has_moved = i.has_moved,
            trouble = CASE WHEN l.parked_at IS NOT NULL OR i.in_doubt THEN l.trouble END
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int2[], $7::bool[],
                    $8::timestamptz[], $9::text[], $10::text[], $11::text[], $12::timestamptz[], $13::text[],
                    $14::text[], $15::bool[], $16::bool[])
             AS i(bucket, publisher, environment, subscription_key, state, status, will_renew, expires_at, product_id,
                  auto_renew_product_id, reason, due_at, predecessors, transaction_id, has_moved, in_doubt)
        WHERE l.bucket = i.bucket AND l.publisher = i.publisher AND l.environment = i.environment
          AND l.subscription_key = i.subscription_key
        """

    private static let eventsSQL = """
        INSERT INTO subscription_events (
            bucket, accepted_on, id, recorded_at, said_at, expires_at, status, publisher, environment,
            subscription_key, event, detail, notification)
        SELECT i.bucket, (now() AT TIME ZONE 'UTC')::date, i.id, clock_timestamp(), i.said_at, i.expires_at, i.status,
               i.publisher, i.environment, i.subscription_key, i.event, i.detail, i.notification
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::timestamptz[], $7::timestamptz[],
                    $8::int2[], $9::text[], $10::text[], $11::uuid[])
             AS i(bucket, publisher, environment, subscription_key, id, said_at, expires_at, status, event, detail,
                  notification)
        """

    /// A subscription that goes by a new id takes its owner and its validation along. Index used: primary keys.
    private static let moveSQL = """
        INSERT INTO subscriptions (
            bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
            product_id, accepted_on, id, accepted_at, owned_since, expires_at, validation_bucket,
            sealed_by)
        SELECT $1, s.publisher, s.environment, $4, s.customer, s.email, s.application_username, s.app, s.offer_id,
               s.product_id, s.accepted_on, s.id, s.accepted_at, s.owned_since, s.expires_at,
               coalesce(s.validation_bucket, s.bucket), s.sealed_by
        FROM subscriptions s
        WHERE s.bucket = $5 AND s.publisher = $2 AND s.environment = $3 AND s.subscription_key = $6
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            previous_username = subscriptions.application_username, customer = excluded.customer, email = excluded.email,
            application_username = excluded.application_username, app = excluded.app, offer_id = excluded.offer_id,
            product_id = excluded.product_id, accepted_on = excluded.accepted_on, id = excluded.id,
            accepted_at = excluded.accepted_at, owned_since = excluded.owned_since, expires_at = excluded.expires_at,
            validation_bucket = excluded.validation_bucket, sealed_by = excluded.sealed_by
        WHERE subscriptions.id IS NULL AND excluded.id IS NOT NULL
        """

    /// The owner's row names the offer of the present product: by it Cleeng is asked. Index used: the primary key.
    private static let offerSQL = """
        UPDATE subscriptions s
        SET offer_id = i.offer_id
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[])
             AS i(bucket, publisher, environment, subscription_key, offer_id)
        WHERE s.bucket = i.bucket AND s.publisher = i.publisher AND s.environment = i.environment
          AND s.subscription_key = i.subscription_key AND s.id IS NOT NULL
        """

    private func presentOffers(_ heard: [Heard]) -> [PostgresQuery] {
        let changed = heard.compactMap { heard in
            heard.access.present.flatMap { offer -> (name: SubscriptionName, offer: OfferID)? in
                heard.owner.map { $0.offerID == offer } == false ? (heard.message.name, offer) : nil
            }
        }
        guard !changed.isEmpty else { return [] }
        return [PostgresQuery(Self.offerSQL, Self.keys(changed.map(\.name)) + [.textArray(changed.map(\.offer))])]
    }

    /// What was granted on it ends, whoever was granted it; the owner's goes on, or runs longer. The purchase's row follows
    /// its validation, unless a fresh one speaks for the purchase by now. Index used: `validations_subscription`.
    private static let accessSQL = """
        WITH held AS MATERIALIZED (
            SELECT v.bucket, v.accepted_on, v.id, v.status AS was, i.ends, i.reason, i.expires_at, i.detail
            FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bool[], $7::text[],
                        $8::timestamptz[], $9::text[], $11::text[])
                 AS i(bucket, publisher, environment, subscription_key, customer, ends, reason, expires_at, detail, offer_id)
            JOIN validations v ON v.bucket = i.bucket AND v.subscription_key = i.subscription_key
                 AND v.publisher = i.publisher AND v.environment = i.environment AND v.offer_id = i.offer_id
                 AND (i.ends OR v.customer = i.customer)
            WHERE CASE WHEN i.ends THEN v.status = 1 OR (v.status = 5 AND v.reason IS DISTINCT FROM i.reason)
                       ELSE v.status = 5 OR (v.status = 1 AND i.expires_at <> coalesce(v.expires_at, 'epoch')) END
            ORDER BY v.bucket, v.accepted_on, v.id
            FOR NO KEY UPDATE OF v
        ), changed AS (
            UPDATE validations v
            SET status = CASE WHEN h.ends THEN 5 ELSE 1 END, reason = CASE WHEN h.ends THEN h.reason END,
                settled_at = CASE WHEN h.ends = (h.was = 1) THEN now() ELSE v.settled_at END,
                expires_at = CASE WHEN h.ends THEN v.expires_at ELSE coalesce(h.expires_at, v.expires_at) END,
                owner_no = CASE WHEN NOT h.ends THEN coalesce(v.owner_no, (
                    SELECT s.owner_no FROM subscriptions s
                    WHERE s.bucket = v.bucket AND s.publisher = v.publisher AND s.environment = v.environment
                      AND s.subscription_key = v.subscription_key)) END
            FROM held h
            WHERE v.bucket = h.bucket AND v.accepted_on = h.accepted_on AND v.id = h.id
            RETURNING v.*, h.was, h.ends, h.detail
        ), told AS (
            INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
            SELECT c.bucket, c.accepted_on, c.id,
                   1 + coalesce((SELECT max(t.fence) FROM timeline t
                                 WHERE t.bucket = c.bucket AND t.accepted_on = c.accepted_on AND t.id = c.id), 0),
                   0, now(), CASE WHEN c.ends THEN 5 WHEN c.was = 5 THEN 1 ELSE 8 END, $10, c.detail
            FROM changed c
        ), followed AS (
            UPDATE purchases p
            SET status = c.status
            FROM changed c
            WHERE p.bucket = get_byte(c.purchase_key, 0) AND p.key = c.purchase_key AND p.id = c.id
              AND p.status <> c.status
        )
        SELECT \(RelayStore.validationColumns) FROM changed v
        """

    /// What is written last, and which of the answers are validations that changed.
    struct Closing {
        var queries: [PostgresQuery] = []
        var changes: [Int] = []
        /// Whose purchases changed.
        var customers: [CustomerName] = []
        /// Endpoints have something to be told.
        var hasMessages = false
        /// Somebody is to be asked about it now, and whoever heard it does not ask.
        var hasQuestions = false

        func changed(_ answers: [PostgresRows]) throws -> [Validation] {
            try changes.flatMap { try answers[$0].map(RelayStore.stored) }
        }
    }

    func closing(_ heard: [Heard]) -> Closing {
        var closing = Closing(queries: [ledgers(heard)])
        let noted = heard.filter { $0.message.note != nil || $0.hasNewStatus }
        if !noted.isEmpty { closing.queries.append(events(noted)) }
        closing.queries += moves(heard)
        let transfers = transfers(heard)
        if !transfers.isEmpty {
            closing.queries += TransferStatements.queries(transfers, instance: instance)
            closing.changes.append(closing.queries.count - 1)
        }
        closing.queries += presentOffers(heard)
        let told = customerChanges(heard)
        if !told.isEmpty { closing.queries.append(CustomerChange.write(told)) }
        closing.customers = told.map(\.customer)
        let news = ContractNews.deliveries(heard)
        closing.queries += ContractNews.moves(heard) + DeliveryStatements.enqueue(news)
        closing.hasMessages = !news.isEmpty
        closing.hasQuestions = heard.contains { heard in heard.dueAt.map { $0 <= heard.now } ?? false }
        closing.queries.append(access(heard))
        closing.changes.append(closing.queries.count - 1)
        return closing
    }

    /// Where the new id had an owner before it was told that an old one, with another owner, has moved to it: the newer owner
    /// has it, as after any other transfer.
    private func transfers(_ heard: [Heard]) -> [Ownership.Transfer] {
        heard.flatMap { new -> [Ownership.Transfer] in
            guard let owner = new.owner, let to = new.ownerValidation else { return [] }
            return heard.filter { old in
                new.message.word.movesFrom.contains(old.message.name.originalTransactionID)
            }.compactMap { old in
                guard let from = old.ownerValidation, let before = old.owner, before.customer != owner.customer else {
                    return nil
                }
                return Ownership.Transfer(
                    publisher: new.message.name.publisher, environment: new.message.name.environment,
                    subscriptionKey: new.message.name.originalTransactionID, to: to, toCustomer: owner.customer,
                    from: from, fromCustomer: before.customer)
            }
        }
    }

    /// Of subscriptions whose owners have something to hear, and of those that go by another id from now on.
    private func customerChanges(_ heard: [Heard]) -> [CustomerChange] {
        func change(_ heard: Heard, _ username: Username, _ reason: CustomerChange.Reason) -> CustomerChange {
            CustomerChange(
                customer: CustomerName(publisher: heard.message.name.publisher, username: username), reason: reason,
                subscription: heard.message.name)
        }
        let moved = heard.filter { $0.owner == nil }.flatMap { new in
            heard.filter { new.message.word.movesFrom.contains($0.message.name.originalTransactionID) }
                .flatMap { old in
                    // Whoever had claimed the new id by name alone has it no longer where the old one was granted.
                    [old.username, old.owner == nil ? nil : new.username].compactMap {
                        $0.map { change(new, $0, .other) }
                    }
                }
        }
        return moved
            + heard.compactMap { heard in
                // What stands alone is no purchase that anybody is shown.
                guard let username = heard.username, !heard.message.name.standsAlone else { return nil }
                if heard.message.word.movesTo != nil { return change(heard, username, .other) }
                return heard.hasNews ? change(heard, username, heard.reason) : nil
            }
    }

    private func ledgers(_ heard: [Heard]) -> PostgresQuery {
        let standings = heard.map(\.shown)
        return PostgresQuery(
            Self.ledgersSQL,
            Self.keys(heard.map(\.message.name)) + [
                .textArray(heard.map { LedgerJSON.text($0.ledger) }), .int2Array(standings.map { $0?.status.rawValue }),
                .boolArray(standings.map { $0?.willRenew }),
                .timestamptzArray(standings.map { $0?.expiresAt?.postgres }),
                .textArray(standings.map { $0?.productID }), .textArray(standings.map { $0?.autoRenewProductID }),
                .textArray(standings.map { $0?.reason }),
                .timestamptzArray(heard.map { $0.dueAt?.postgres }), .textArray(heard.map(\.predecessors)),
                .textArray(heard.map(\.newestTransaction)), .boolArray(heard.map { $0.ledger.movedTo != nil }),
                // Until whoever is asked now has answered, the trouble of the last question stands.
                .boolArray(heard.map { !$0.access.questions.isEmpty }),
            ])
    }

    private func events(_ heard: [Heard]) -> PostgresQuery {
        PostgresQuery(
            Self.eventsSQL,
            Self.keys(heard.map(\.message.name)) + [
                .uuidArray(heard.map { _ in UUID() }),
                .timestamptzArray(heard.map { ($0.message.note?.saidAt ?? $0.now).postgres }),
                .timestamptzArray(heard.map { $0.shown?.expiresAt?.postgres }),
                .int2Array(heard.map { $0.shown?.status.rawValue }),
                .textArray(heard.map { $0.message.note?.event ?? $0.shown?.status.name ?? "unknown" }),
                .textArray(heard.map { $0.message.note?.detail.map { $0.bounded(300) } }),
                .uuidArray(heard.map { $0.message.note?.notification }),
            ])
    }

    /// To the new ids that nobody has claimed yet, of those that somebody had claimed before.
    private func moves(_ heard: [Heard]) -> [PostgresQuery] {
        heard.filter { $0.owner == nil && !$0.message.word.movesFrom.isEmpty }.flatMap { new in
            new.message.word.movesFrom.sorted().map { old in
                let before = new.message.name.under(old)
                return PostgresQuery(
                    Self.moveSQL,
                    [
                        .int2(Int16(new.message.name.bucket.number)), .text(new.message.name.publisher),
                        .text(new.message.name.environment), .text(new.message.name.originalTransactionID),
                        .int2(Int16(before.bucket.number)), .text(old),
                    ])
            }
        }
    }

    private func access(_ heard: [Heard]) -> PostgresQuery {
        struct Row {
            var name: SubscriptionName
            var customer: CustomerID
            var ends: Bool
            var reason: String?
            var expiresAt: Timestamp?
            var detail: String
            var offer: OfferID
        }
        // One that has just moved here has the owner that it had there.
        let owners = Dictionary(
            heard.compactMap { heard in heard.owner.map { (heard.message.name, $0) } },
            uniquingKeysWith: { one, _ in one })
        let rows = heard.flatMap { heard -> [Row] in
            let names = [heard.message.name] + heard.ledger.movedFrom.sorted().map(heard.message.name.under)
            guard let owner = names.lazy.compactMap({ owners[$0] }).first else { return [] }
            let event = heard.message.note?.event
            return heard.access.verdicts.sorted { $0.key < $1.key }.flatMap { offer, verdict in
                names.map { name in
                    switch verdict {
                    case .goesOn(let expiresAt):
                        // A receipt may be older than the renewal that Cleeng grants on.
                        Row(
                            name: name, customer: owner.customer, ends: false,
                            expiresAt: expiresAt.flatMap { $0 > heard.now ? $0 : nil },
                            detail: event ?? "as the store has it", offer: offer)
                    case .ends(let reason):
                        Row(
                            name: name, customer: owner.customer, ends: true, reason: reason,
                            detail: "\(reason): \(event ?? "its time is over")", offer: offer)
                    }
                }
            }
        }
        return PostgresQuery(
            Self.accessSQL,
            Self.keys(rows.map(\.name)) + [
                .privateTextArray(rows.map(\.customer)), .boolArray(rows.map(\.ends)), .textArray(rows.map(\.reason)),
                .timestamptzArray(rows.map { $0.expiresAt?.postgres }), .textArray(rows.map(\.detail)), .text(instance),
                .textArray(rows.map(\.offer)),
            ])
    }
}

extension LedgerHearing.Heard {
    /// For those who have to reach what was granted under them: `BUCKET:ID`, with spaces between. Nil for none.
    fileprivate var predecessors: String? {
        guard !ledger.movedFrom.isEmpty else { return nil }
        return ledger.movedFrom.sorted().map { old -> String in
            "\(message.name.under(old).bucket.number):\(old)"
        }.joined(separator: " ")
    }

    /// Nil where it goes by the subscription's own number.
    fileprivate var newestTransaction: TransactionID? {
        let newest = ledger.periods.values.max { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }?.transactionID
        return newest == message.name.originalTransactionID ? nil : newest
    }

    /// Nil for what has moved on: its life is its successor's.
    var dueAt: Timestamp? {
        guard ledger.movedTo == nil, let next = access.nextLookAt ?? untoldLookAt else { return nil }
        return next > now ? next : now + patience
    }

    /// Stores other than Apple's tell nothing by themselves: until one has said something, it is asked every day.
    private var untoldLookAt: Timestamp? {
        let platform = StorePlatform(subscriptionKey: message.name.originalTransactionID)
        guard platform != .apple, !isTold, standing?.status == .active else { return nil }
        return now + Self.untoldPause
    }

    private static let untoldPause = Duration.seconds(86_400)
}

extension LedgerHearing.Heard {
    /// As the publisher's webhooks name what was told.
    fileprivate var reason: CustomerChange.Reason {
        switch shown?.status {
        case .revoked: shown?.reason == "family_revoked" ? .revoked : .refunded
        case .expired, .inBillingRetry: .expired
        case .inGrace: .enteredGracePeriod
        case .active where before.status == nil: shown?.willRenew == false ? .willLapse : .other
        case .active where hasNewStatus || (before.expiresAt != nil && before.expiresAt != shown?.expiresAt): .renewed
        case .active
        where before.willRenew != shown?.willRenew && (before.willRenew != nil || shown?.willRenew == false):
            shown?.willRenew == false ? .willLapse : .willAutoRenew
        case .active where before.ledger.renewal?.priceConsent == 0 && ledger.renewal?.priceConsent == 1:
            .priceChangeConfirmed
        case .active, nil: .other
        }
    }
}
