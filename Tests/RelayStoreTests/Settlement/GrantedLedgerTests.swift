import Formats
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A grant's ledger")
struct GrantedLedgerTests {
    private let name = SubscriptionName(
        publisher: "main", environment: "Production", originalTransactionID: "1000000001")

    private func grant(_ store: RelayStore, _ acceptance: Acceptance) async throws {
        #expect(try await store.outcome(of: try await store.takeAndClaim(acceptance).granted()) == .written)
    }

    /// The rows that a grant leaves, without their times.
    private func picture(_ database: TestDatabase) async throws -> [String] {
        try await database.column(
            """
            SELECT (to_jsonb(l) - '{heard_at}'::text[])::text FROM ledgers l
            UNION ALL SELECT (to_jsonb(e) - '{accepted_on,id,recorded_at,said_at}'::text[])::text FROM subscription_events e
            UNION ALL SELECT (to_jsonb(c) - '{changed_at,untold_since}'::text[])::text FROM customers c
            UNION ALL SELECT jsonb_build_array(v.status, v.expires_at, v.owner_no)::text FROM validations v
            UNION ALL SELECT jsonb_build_array(s.expires_at, s.offer_id, s.owner_no)::text FROM subscriptions s
            ORDER BY 1
            """)
    }

    /// The end in the receipt and the end in Cleeng's statement, in seconds from now.
    struct Case: Sendable {
        var receiptEnds: Double?
        var isRefunded = false
        var accessEnds: Double?
        /// A second purchase of the customer's is granted too.
        var isSecond = false
    }

    @Test(
        "is complete: evaluating it once more changes nothing",
        arguments: [
            Case(), Case(accessEnds: 5_000), Case(receiptEnds: 86_400), Case(receiptEnds: 86_400, accessEnds: 5_000),
            Case(receiptEnds: 60, accessEnds: 90_000),
            Case(receiptEnds: -60, accessEnds: 5_000), Case(receiptEnds: -90_000),
            Case(receiptEnds: 86_400, isSecond: true),
            // Cleeng grants a purchase that the store has refunded.
            Case(receiptEnds: 86_400, isRefunded: true),
        ])
    func complete(one: Case) async throws {
        try await withStore { database, store in
            let now = try await database.now()
            var acceptance = try Acceptance.sample()
            acceptance.periods = [one.receiptEnds].compactMap(\.self).map { end in
                LedgerPeriod(
                    id: "9", productID: "com.example.monthly", purchasedAt: now - .seconds(100_000),
                    expiresAt: now + .seconds(rounded: end),
                    revocation: one.isRefunded ? .init(at: now, kind: .refunded) : nil, statedAt: now,
                    transactionID: "77")
            }
            let claimed = try await store.takeAndClaim(acceptance)
            let write = claimed.granted(
                observedAt: now, expiresAt: one.accessEnds.map { now + .seconds(rounded: $0) })
            #expect(
                try await store.outcome(of: write) == (one.isRefunded ? .writtenRevoked(reason: "refunded") : .written))
            if one.isSecond { try await grant(store, .sample(receipt: .init(isText: true, bytes: Private([1, 2])))) }
            let before = try await picture(database)
            #expect(try await database.count("ledgers", where: "state IS NOT NULL") == 1)
            if !one.isRefunded {
                #expect(try await database.count("ledgers", where: "due_at > now() + interval '20 s'") == 1)
            }
            _ = try await store.subscriptions.record([LedgerMessage(name)])
            #expect(try await picture(database) == before)
        }
    }

    @Test("is due at once if its store can be asked about it")
    func asked() async throws {
        try await withStore { database, _ in
            let store = await database.store("asking", grantsAskedAt: [.apple])
            var acceptance = try Acceptance.sample()
            let now = try await database.now()
            acceptance.periods = [
                LedgerPeriod(
                    id: "9", productID: "com.example.monthly", purchasedAt: now, expiresAt: now + .seconds(86_400),
                    statedAt: now, transactionID: "77")
            ]
            try await grant(store, acceptance)
            #expect(try await store.subscriptions.claimDue(limit: 9, lease: .seconds(60)).map(\.name) == [name])
        }
    }

    @Test("takes two grants of one batch, and a statement of the store from before")
    func several() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            var claimed = [try await store.takeAndClaim(.sample())]
            try await store.write(claimed[0].watching(until: claimed[0].pursuit.deadline))
            try await store.take(.sample(receipt: .init(isText: true, bytes: Private([1, 2]))))
            try await database.makeDue(claimed[0].id)
            claimed = try await store.purchases.claimDue(of: .common)
            try #require(claimed.count == 2)
            let now = try await database.now()
            let writes = zip(claimed, [0, 1]).map { $0.granted(observedAt: now + .seconds($1)) }
            #expect(try await store.purchases.settle(writes) == [.written, .written])
            #expect(try await database.count("validations", where: "status = 1 AND owner_no = 1") == 2)
            let ledger = try #require(try await database.column("SELECT state FROM ledgers", as: String.self).first)
            let state = try LedgerJSON.value(SubscriptionLedger.self, ledger, column: "state")
            #expect(state.granted?.at == now + .seconds(1))
            #expect(state.periods.count == 1 && state.renewal != nil)
        }
    }

    @Test("of a new subscription and one of a known subscription, in one batch, each read what is its own")
    func mixed() async throws {
        try await withStore { database, store in
            let now = try await database.now()
            func acceptance(_ subscription: String, period: String) throws -> Acceptance {
                var one = try Acceptance.sample(
                    subscription: subscription, receipt: .init(isText: true, bytes: Private(Array(period.utf8))))
                one.periods = [
                    LedgerPeriod(
                        id: TransactionID(period), productID: "com.example.monthly", purchasedAt: now,
                        expiresAt: now + .seconds(86_400), statedAt: now, transactionID: TransactionID(period))
                ]
                return one
            }
            try await grant(store, acceptance("1000000002", period: "21"))
            // An earlier version had no ledgers, or retention removed it.
            try await database.run("DELETE FROM ledgers")
            for one in ["1000000001", "1000000002", "1000000003"] {
                try await store.take(acceptance(one, period: "\(one.suffix(1))2"))
            }
            let claimed = try await store.purchases.claimDue(of: .common)
            try #require(claimed.count == 3)
            #expect(try await store.purchases.settle(claimed.map { $0.granted() }) == [.written, .written, .written])
            let states = try await database.column(
                "SELECT state FROM ledgers ORDER BY subscription_key", as: String.self)
            let periods = try states.map {
                try LedgerJSON.value(SubscriptionLedger.self, $0, column: "state").periods.keys.sorted()
            }
            #expect(periods == [["12"], ["21", "22"], ["32"]])
        }
    }

    @Test("of which this version cannot read a feature's part waits, with the grant; a statement of a store is refused")
    func unreadableFeature() async throws {
        struct Unreadable: LedgerParticipant {
            func look(for names: [SubscriptionName]) -> SQL { "SELECT 1" }
            func read(_ rows: PostgresRows, of names: [SubscriptionName]) throws -> LedgerPart {
                LedgerPart(
                    troubles: Dictionary(uniqueKeysWithValues: names.map { ($0, .unreadable(column: "feature")) })
                ) { batch in
                    #expect(batch.all.isEmpty)
                    return LedgerAddition()
                }
            }
        }
        try await withStore { database, _ in
            let store = RelayStore(
                pool: database.hand, vault: .plain(), instance: "one", logger: .silent,
                features: [StoredFeature(participant: Unreadable())])
            try await grant(store, .sample())
            #expect(try await database.count("ledgers", where: "state IS NULL AND due_at <= now()") == 1)
            await #expect(throws: StoreError.self) {
                _ = try await store.subscriptions.record([LedgerMessage(name)])
            }
        }
    }

    @Test(
        "that this version cannot read does not prevent the grant, and is due at once",
        arguments: ["ledger", "purchase"])
    func unreadable(part: String) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            let claimed = try await store.takeAndClaim(.sample())
            switch part {
            case "ledger": try await database.run("UPDATE ledgers SET state = '{'")
            default: try await database.run("UPDATE validations SET period = '{'")
            }
            let state = try await database.column("SELECT state FROM ledgers", as: String.self)
            #expect(try await store.outcome(of: claimed.granted()) == .written)
            #expect(try await store.status(of: claimed.id) == .granted)
            #expect(try await database.column("SELECT state FROM ledgers", as: String.self) == state)
            #expect(try await database.count("ledgers", where: "due_at <= now() AND granted_offer IS NOT NULL") == 1)
        }
    }

    @Test("refuses what the store took back, though another purchase on it cannot be read")
    func refused() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let first = try await store.takeAndGrant(.sample())
            try await notices.come("SUBSCRIBED", said: 0)
            try await notices.come("REFUND", said: 1, revoked: .refunded)
            try await database.run("UPDATE validations SET period = '{' WHERE id = $1", .uuid(first.uuid))
            let second = try await store.takeAndClaim(
                .sample(customer: "ben@example.test", receipt: .init(isText: true, bytes: Private([1, 2]))))
            #expect(try await store.outcome(of: second.granted()) == .writtenRevoked(reason: "refunded"))
            #expect(try await database.count("transfers") == 0)
        }
    }

    @Test("of a transfer has the new owner's offer alone")
    func transferred() async throws {
        try await withStore { database, store in
            let before = try await store.takeAndGrant(.sample())
            // The read behind the first grant may have been sent later than the read behind the second.
            try await database.run("UPDATE ledgers SET granted_at = now() + interval '1 hour'")
            try await store.takeAndGrant(.sample(customer: "ben@example.test", offer: "S2_US"))
            #expect(try await store.status(of: before) == .transferred)
            let ledger = try #require(try await database.column("SELECT state FROM ledgers", as: String.self).first)
            let state = try LedgerJSON.value(SubscriptionLedger.self, ledger, column: "state")
            #expect(state.granted?.offer == "S2_US")
            let isNew = "granted_offer = 'S2_US' AND granted_at < now() + interval '9 min'"
            #expect(try await database.count("ledgers", where: "due_at <= now() AND \(isNew)") == 1)
        }
    }

    @Test("is what the alert on doubtful access counts; access that was found is none")
    func found() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            let found = LedgerStatement(granted: LedgerGrant(offer: "S1_US", at: try await database.now()))
            _ = try await store.subscriptions.record([LedgerMessage(name, found)])
            #expect(try await database.count("ledgers", where: "granted_at IS NULL AND granted_offer IS NULL") == 1)
        }
    }
}
