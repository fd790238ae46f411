import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Grants of the previous version get an owner's number and a due ledger")
struct GrantCheckTests {
    /// Makes the rows as the previous version wrote them.
    private func makeAsBefore(_ database: TestDatabase) async throws {
        try await database.run("UPDATE validations SET owner_no = NULL")
        try await database.run("DELETE FROM ledgers")
    }

    private func check(_ store: RelayStore) async throws -> GrantCheck.Found {
        try await GrantCheck(store: store).run(budget: .seconds(60))
    }

    @Test("a grant without a ledger is due, under its owner's number")
    func withoutLedger() async throws {
        try await withStore { database, store in
            let id = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            try await makeAsBefore(database)
            #expect(try await check(store) == GrantCheck.Found(unnumbered: 1))
            #expect(try await database.count("ledgers", where: "due_at <= now() AND granted_offer IS NOT NULL") == 1)
            #expect(try await database.count("validations", where: "owner_no = 1") == 1)
            #expect(try await store.status(of: id) == .granted)
            // The next walk, after its pause, finds nothing.
            #expect(try await check(store) == GrantCheck.Found())
            try await database.run("UPDATE duties SET expires_at = now() - interval '1 second'")
            #expect(try await check(store) == GrantCheck.Found())
        }
    }

    @Test("of two granted customers of one subscription, the one who does not own it gets a separate ledger")
    func twoGranted() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            let new = try await store.takeAndGrant(.sample(customer: "ben@example.test"))
            try await makeAsBefore(database)
            try await database.run("UPDATE validations SET status = 1, reason = NULL WHERE id = '\(old.uuid)'")
            #expect(try await check(store) == GrantCheck.Found(unnumbered: 2, alone: 1))
            #expect(try await database.count("ledgers", where: "due_at <= now()") == 2)
            #expect(try await database.count("validations", where: "status = 1 AND owner_no IS NULL") == 0)
            let heard = try await store.subscriptions.record(
                try await store.subscriptions.claimDue(limit: 10, lease: .seconds(60)).map { LedgerMessage($0.name) })
            #expect(Set(heard.compactMap { $0.owner?.customer.text }) == ["ana@example.test", "ben@example.test"])
            #expect(heard.count { $0.name.standsAlone } == 1)
            // Cleeng ends the access of the customer with the separate subscription. The other customer keeps access.
            let alone = try #require(heard.first { $0.name.standsAlone })
            let over = LedgerStatement(cleeng: [
                try #require(alone.owner?.offerID): LedgerEnd(isOver: true, statedAt: alone.updatedAt + .seconds(1))
            ])
            _ = try await store.subscriptions.record([LedgerMessage(alone.name, over)])
            #expect(try await store.status(of: old) == .revoked)
            #expect(try await store.status(of: new) == .granted)
        }
    }

    @Test("running access whose end has no due ledger is due at once")
    func unwatched() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            _ = try await store.subscriptions.record(
                try await store.subscriptions.claimDue(limit: 10, lease: .seconds(60)).map { LedgerMessage($0.name) })
            try await database.run(
                "UPDATE ledgers SET due_at = NULL, status = 1, expires_at = now() + interval '1 day'")
            #expect(try await check(store) == GrantCheck.Found(unwatched: 1))
            #expect(try await database.count("ledgers", where: "due_at <= now()") == 1)
        }
    }

    /// The word of the second change came first, so the owner went one step only.
    @Test("a subscription that moved to an id without an owner is due at once")
    func left() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: "ana@example.test", subscription: "1"))
            var notices = Notices(store: store, database: database)
            for (old, new) in [("1", "2"), ("2", "3")] {
                notices.key = new
                try await notices.come("DID_RENEW", said: 1, period: new, movedFrom: old)
            }
            try await notices.keep()
            #expect(try await check(store) == GrantCheck.Found())
            try await database.run("DELETE FROM subscriptions WHERE subscription_key = '3'")
            try await database.run("UPDATE duties SET expires_at = now() - interval '1 second'")
            #expect(try await check(store) == GrantCheck.Found(unwatched: 1))
            #expect(try await database.count("ledgers", where: "due_at <= now() AND subscription_key = '1'") == 1)
        }
    }
}
