import NIOConcurrencyHelpers
import Postgres
import RelayCore
import Testing

@testable import RelayStore

private final class Listener: GrantListener {
    let leeway = Notices.leeway
    private let isCurious: Bool
    private let names = NIOLockedValueBox<[SubscriptionName]>([])

    /// - Parameter isCurious: whether it asks about every subscription.
    init(isCurious: Bool = false) { self.isCurious = isCurious }

    var told: [TransactionID] { names.withLockedValue { $0.map(\.originalTransactionID) } }

    func asks(about subscription: LedgerResult) -> Bool { isCurious }

    func updateLedgers(granted names: [SubscriptionName]) { self.names.withLockedValue { $0 += names } }
}

@Suite("A grant's ledger")
struct GrantedLedgerTests {
    private let key: TransactionID = "1000000001"

    private func grant(_ store: RelayStore, _ acceptance: Acceptance, _ listener: Listener) async throws {
        let writer = PursuitWriter(store: store, listener: listener)
        #expect(try await writer.write(try await store.takeAndClaim(acceptance).granted()) == .written)
    }

    private func isLeftForAMoment(_ database: TestDatabase) async throws -> Bool {
        try await database.count(
            "ledgers", where: "state IS NULL AND due_at BETWEEN now() + interval '5 s' AND now() + interval '10 s'")
            == 1
    }

    /// The rows that a grant and its evaluation leave, without their times.
    ///
    /// - Parameter isDueAlike: false leaves out the ledger's due time.
    private func picture(_ database: TestDatabase, isDueAlike: Bool) async throws -> [String] {
        try await database.column(
            """
            SELECT (to_jsonb(l) - '{heard_at\(isDueAlike ? "" : ",due_at")}'::text[])::text FROM ledgers l
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
        var isFirst = true
    }

    @Test(
        "that is the subscription's first equals an evaluated one",
        arguments: [
            Case(), Case(accessEnds: 5_000), Case(receiptEnds: 86_400), Case(receiptEnds: 86_400, accessEnds: 5_000),
            Case(receiptEnds: 60, accessEnds: 90_000),
            Case(receiptEnds: -60, accessEnds: 5_000), Case(receiptEnds: -90_000),
            // Cleeng grants a purchase that the store has refunded.
            Case(receiptEnds: 86_400, isRefunded: true, isFirst: false),
        ])
    func first(one: Case) async throws {
        let listener = Listener()
        var moment: Timestamp?
        var pictures: [[String]] = []
        for isHeard in [true, false] {
            try await withStore { database, store in
                let now = if let moment { moment } else { try await database.now() }
                moment = now
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
                let writer = PursuitWriter(store: store, listener: isHeard ? nil : listener)
                let outcome = try await writer.write(write)
                #expect(outcome == (one.isRefunded ? .writtenRevoked(reason: "refunded") : .written))
                #expect(isHeard || (listener.told == []) == one.isFirst)
                if isHeard || !one.isFirst {
                    let name = SubscriptionName(
                        publisher: claimed.publisher, environment: claimed.environment, originalTransactionID: key)
                    _ = try await store.subscriptions.record([LedgerMessage(name)], leeway: Notices.leeway)
                }
                let due = "due_at > now() + interval '20 s'"
                if one.isFirst { #expect(try await database.count("ledgers", where: due) == 1) }
                pictures.append(try await picture(database, isDueAlike: one.isFirst))
            }
        }
        #expect(pictures[0] == pictures[1])
    }

    @Test("is left to a listener that asks about it, and is due soon after")
    func asked() async throws {
        try await withStore { database, store in
            let listener = Listener(isCurious: true)
            try await grant(store, .sample(), listener)
            #expect(listener.told == [key])
            #expect(try await isLeftForAMoment(database))
            #expect(try await store.subscriptions.claimDue(limit: 9, lease: .seconds(60)).isEmpty)
        }
    }

    @Test("is evaluated if its contract has events, and if two grants are concurrent")
    func heard() async throws {
        try await withStore { database, store in
            try await database.run(
                """
                INSERT INTO contract_subscriptions
                SELECT 1, 'x', 'main', 'c', 'c', 'apple', 'Production', '\(key)', 1, now()
                """)
            let listener = Listener()
            try await grant(store, .sample(), listener)
            #expect(listener.told == [key])
            #expect(try await isLeftForAMoment(database))
        }
        try await withStore { database, store in
            let listener = Listener()
            var claimed = [try await store.takeAndClaim(.sample())]
            try await store.write(claimed[0].watching(until: claimed[0].pursuit.deadline))
            try await store.take(.sample(receipt: .init(isText: true, bytes: Private([1, 2]))))
            try await database.makeDue(claimed[0].id)
            claimed = try await store.purchases.claimDue(of: .common)
            try #require(claimed.count == 2)
            let result = try await store.purchases.settle(claimed.map { $0.granted() }, listener: listener)
            #expect(result.outcomes == [.written, .written])
            #expect(result.outdated.map(\.originalTransactionID) == [key])
            #expect(try await isLeftForAMoment(database))
        }
    }

    @Test("with an earlier statement of the store stays unchanged, and is evaluated soon")
    func known() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            let state = try await database.column("SELECT state FROM ledgers", as: String.self)
            let listener = Listener()
            try await grant(store, .sample(), listener)
            #expect(listener.told == [key])
            #expect(try await database.column("SELECT state FROM ledgers", as: String.self) == state)
            #expect(try await database.count("ledgers", where: "due_at <= now() + interval '10 s'") == 1)
            #expect(try await database.count("subscription_events", where: "notification IS NULL") == 0)
        }
    }

    @Test("is due at once without a listener, and if it was due before")
    func untold() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample())
            #expect(try await database.count("ledgers", where: "due_at <= now()") == 1)
            let listener = Listener()
            try await grant(store, .sample(receipt: .init(isText: true, bytes: Private([1, 2]))), listener)
            #expect(listener.told == [key])
            #expect(try await database.count("ledgers", where: "due_at <= now()") == 1)
        }
    }
}
