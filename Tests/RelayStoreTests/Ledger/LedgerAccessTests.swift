import Formats
import Foundation
import NIOConcurrencyHelpers
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Granted access follows the subscription's life")
struct LedgerAccessTests {
    /// A granted purchase whose receipt states a period of one day.
    private func granted(_ notices: Notices, _ customer: String = "ana@example.test") async throws -> ValidationID {
        let acceptance = try await Acceptance.sample(customer: customer).saying(
            "1", ends: notices.at(86_400), statedAt: notices.at(0))
        return try await notices.store.takeAndGrant(acceptance)
    }

    @Test(
        "a refund, the end of sharing and the end of its time revoke it, for that reason",
        arguments: ["refunded", "family_revoked", "expired"])
    func revoked(reason: String) async throws {
        let kinds: [String: LedgerPeriod.Revocation.Kind] = ["refunded": .refunded, "family_revoked": .familyRevoked]
        let kind = kinds[reason]
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            if let kind {
                try await notices.come("REFUND", said: 1, began: 0, revoked: kind)
            } else {
                try await notices.come("EXPIRED", said: 1, began: -10, ends: 0, over: true, willRenew: false)
            }
            let validation = try #require(try await store.purchases.validation(id))
            #expect(validation.status == .revoked && validation.reason == reason)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 5)
            let timeline = try #require(try await store.ops.detail(id)).timeline.map(\.event.kind)
            #expect(timeline.suffix(1) == [.revoked])
        }
    }

    @Test("a reversed refund restores it, and so does a renewal after its end")
    func givenBack() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            try await notices.come("REFUND", said: 1, began: 0, revoked: .refunded)
            try await notices.come("REFUND_REVERSED", said: 2, began: 0)
            #expect(try await store.status(of: id) == .granted)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 1)
            try await notices.come("EXPIRED", said: 3, began: -20, ends: -1, over: true, willRenew: false)
            #expect(try await store.status(of: id) == .revoked)
            try await notices.come("SUBSCRIBED", said: 4, period: "2", ends: 86_400)
            let validation = try #require(try await store.purchases.validation(id))
            #expect(validation.status == .granted && validation.reason == nil)
            #expect(
                try #require(try await store.ops.detail(id)).timeline.map(\.event.kind).filter { $0.rawValue < 10 }
                    == [.granted, .revoked, .granted, .revoked, .granted])
        }
    }

    @Test("a renewal moves its end, and waiters are notified")
    func renewed() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            let waiter = store.memory.changes.register(id)
            defer { waiter.leave() }
            try await notices.come("DID_RENEW", said: 1, period: "2", ends: 200_000)
            let validation = try #require(try await store.purchases.validation(id))
            #expect(validation.status == .granted)
            let end = try await notices.at(200_000)
            #expect(abs((try #require(validation.expiresAt) - end).microseconds) < 5_000_000)
            #expect(try #require(try await store.ops.detail(id)).timeline.last?.event.kind == .renewed)
            #expect(
                try await database.value("SELECT reason FROM customers", as: String.self) == "RENEWED")
        }
    }

    @Test("an answer about a former owner does not revoke the new owner's access")
    func askedAboutAnother() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            _ = try await granted(notices)
            let new = try await granted(notices, "ben@example.test")
            let name = SubscriptionName(
                publisher: .first, environment: .production, originalTransactionID: TransactionID(notices.key))
            let found = try await store.subscriptions.record([LedgerMessage(name)])
            let owner = try #require(found.first?.owner)
            #expect(owner.customer.text == "ben@example.test")
            func hear(_ condition: LedgerMessage.Condition, saidIn seconds: Double) async throws {
                let over = LedgerStatement(cleeng: [
                    owner.offerID: LedgerEnd(isOver: true, statedAt: try await notices.at(seconds))
                ])
                let message = LedgerMessage(name, over, condition: condition, note: .init(event: "looked_up"))
                _ = try await store.subscriptions.record([message])
            }
            for (second, customer) in [CustomerEmail("ana@example.test")?.customer, nil].enumerated() {
                try await hear(.whileOwned(by: customer), saidIn: Double(second + 1))
                #expect(try await store.status(of: new) == .granted)
            }
            #expect(try await database.count("subscription_events", where: "event = 'looked_up'") == 0)
            try await hear(.whileOwned(by: owner.customer), saidIn: 3)
            #expect(try await store.status(of: new) == .revoked)
        }
    }

    /// Ana owns the subscription, and Ben posts its receipt. Cleeng ends Ana's access, then grants Ben's by an event.
    /// The event may concern any time since Ben's purchase was sent, which was before Cleeng's statement about Ana.
    @Test("Cleeng's statement about a former owner does not apply to the next one, even if that grant is older")
    func saidOfTheFormerOwner() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            _ = try await granted(notices)
            let claimed = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            let name = SubscriptionName(
                publisher: .first, environment: .production, originalTransactionID: TransactionID(notices.key))
            let offer = claimed.offerID
            let over = LedgerStatement(cleeng: [offer: LedgerEnd(isOver: true, statedAt: try await notices.at(1))])
            let ana = try #require(CustomerEmail("ana@example.test")).customer
            _ = try await store.subscriptions.record(
                [LedgerMessage(name, over, condition: .whileOwned(by: ana))])
            var grant = claimed.granted()
            grant.change?.isProven = true
            #expect(try await store.outcome(of: grant) == .written)
            for _ in 0..<2 {
                _ = try await store.subscriptions.record([LedgerMessage(name)])
                #expect(try await store.status(of: claimed.id) == .granted)
            }
            let state = try await database.value("SELECT state FROM ledgers", as: String.self)
            #expect(!state.contains(#""isOver":true"#))
        }
    }

    @Test("an update without questions postpones no due question")
    func staysDue() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            // Cleeng's grant had an end that has passed, so Cleeng must be asked whether access continues.
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(
                claimed.granted(observedAt: notices.at(-9_000), expiresAt: notices.at(-8_000)))
            let name = claimed.name
            try await database.run("UPDATE ledgers SET due_at = now() - interval '1 s'")
            for _ in 0..<3 {
                let heard = try await store.subscriptions.record([LedgerMessage(name)])
                #expect(heard.first?.access.questions.isEmpty == false)
                #expect(try await database.count("ledgers", where: "due_at < now()") == 1)
            }
            _ = try await store.subscriptions.record([LedgerMessage(name)], asks: true)
            #expect(try await database.count("ledgers", where: "due_at > now() + interval '50 s'") == 1)
        }
    }

    @Test("a failed look makes the next one earlier, postpones none, and leaves claimed ledgers")
    func lookAgain() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: 0)
            let name = SubscriptionName(
                publisher: .first, environment: "Production", originalTransactionID: TransactionID(notices.key))
            func due(_ seconds: Double) async throws -> Double {
                try await database.run("UPDATE ledgers SET due_at = now() + interval '\(seconds) seconds'")
                try await store.subscriptions.lookAgain(at: name, trouble: "away", within: .seconds(60))
                let rows = try await store.database.query(
                    "SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM ledgers")
                return try rows[0].get("seconds")
            }
            let (later, sooner) = (try await due(600), try await due(-5))
            #expect((50...60).contains(later) && sooner < 0, "\(later) \(sooner)")
            #expect(try await store.subscriptions.claimDue(limit: 5, lease: .seconds(60)).count == 1)
            let claimed = try await due(600)
            #expect(claimed > 500, "\(claimed)")
        }
    }

    @Test("an older statement never replaces a newer one")
    func order() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            try await notices.come("REFUND_REVERSED", said: 5, began: 0)
            try await notices.come("REFUND", said: 1, began: 0, revoked: .refunded)
            #expect(try await store.status(of: id) == .granted)
        }
    }

    @Test("a receipt's past end and an unreported renewal end nothing before Cleeng was asked")
    func snapshot() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let acceptance = try await Acceptance.sample().saying(
                "1", ends: notices.at(-86_400), statedAt: notices.at(-90_000))
            let id = try await store.takeAndGrant(acceptance)
            #expect(try await store.status(of: id) == .granted)
            // Cleeng's recent statement that access continues is accepted for the leeway.
            #expect(try await notices.keep().isEmpty)
            #expect(try await database.value("SELECT status FROM ledgers", as: Int.self) == 1)
            try await database.run(
                "UPDATE ledgers SET granted_at = granted_at - interval '2 hours', due_at = now(), state = NULL")
            let heard = try await notices.keep()
            let state = try #require(heard[0].state)
            #expect(state.status == .expired && state.lookUpAt != nil)
            #expect(try await store.status(of: id) == .granted)
            #expect(heard[0].owner?.customer == "ana@example.test")
            let over = LedgerStatement(end: LedgerEnd(isOver: true, statedAt: heard[0].updatedAt))
            _ = try await store.subscriptions.record(
                [LedgerMessage(heard[0].name, over, note: .init(event: "looked_up"))])
            #expect(try #require(try await store.purchases.validation(id)).reason == "expired")
        }
    }

    @Test("with the renewal turned off, access ends without another statement")
    func lapsed() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            try await notices.come("DID_CHANGE_RENEWAL_STATUS", said: 1, began: 0, ends: 1.5, willRenew: false)
            #expect(try await store.status(of: id) == .granted)
            let dueAt = try #require(try await notices.subscription()?.dueAt)
            #expect(dueAt <= (try await notices.at(2)))
            try await eventually {
                try await notices.keep()
                return try await store.status(of: id) != .granted
            }
            #expect(try #require(try await store.purchases.validation(id)).reason == "expired")
        }
    }

    @Test("billing retry without grace gives no access, grace does")
    func retry() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            try await notices.come("DID_FAIL_TO_RENEW", said: 1, began: -20, ends: -1, grace: 80_000, retry: true)
            #expect(try await store.status(of: id) == .granted)
            #expect(try await notices.subscription()?.status == .inGrace)
            try await notices.come("GRACE_PERIOD_EXPIRED", said: 2, began: -20, ends: -1, retry: true)
            #expect(try #require(try await store.purchases.validation(id)).reason == "expired")
            #expect(try await notices.subscription()?.status == .inBillingRetry)
        }
    }

    @Test("only the owner's validation changes: a former owner gets no access")
    func owner() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let old = try await granted(notices)
            let new = try await granted(notices, "ben@example.test")
            #expect(try await store.status(of: old) == .transferred)
            try await notices.come("REFUND", said: 1, began: 0, revoked: .refunded)
            try await notices.come("REFUND_REVERSED", said: 2, began: 0)
            #expect(try await store.status(of: old) == .transferred)
            #expect(try await store.status(of: new) == .granted)
        }
    }

    /// First the ledger ends access: no renewal is known, and the store states the end. Then the statement of a renewal
    /// arrives, which is older.
    @Test("a late statement of a renewal restores access")
    func toldLate() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            try await notices.come("DID_CHANGE_RENEWAL_STATUS", said: 0.5, began: 0, ends: 1)
            let name = try #require(try await notices.subscription()).name
            let over = LedgerStatement(end: LedgerEnd(isOver: true, statedAt: try await notices.at(2)))
            _ = try await store.subscriptions.record(
                [LedgerMessage(name, over, note: .init(event: "looked_up"))])
            try await eventually {
                _ = try await store.subscriptions.record([LedgerMessage(name)])
                return try await store.status(of: id) != .granted
            }
            #expect(try #require(try await store.purchases.validation(id)).reason == "expired")
            try await notices.come("DID_RENEW", said: -0.1, period: "2", ends: 80_000)
            #expect(try await store.status(of: id) == .granted)
            #expect(try await notices.subscription()?.status == .active)
        }
    }

    @Test("until a late renewal is asked about, nothing is shown as ended and no publisher is notified")
    func lateRenewal() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            _ = try await granted(notices)
            #expect(try await database.value("SELECT reason FROM customers", as: String.self) == "PURCHASED")
            try await database.run("UPDATE validations SET period = NULL")
            try await database.run(
                "UPDATE ledgers SET state = NULL, granted_at = granted_at - interval '3 days', due_at = now()")
            try await notices.come("PRICE_INCREASE", said: 0, began: -90_000, ends: -80_000)
            let name = try #require(try await notices.subscription()).name
            let heard = try await store.subscriptions.record([LedgerMessage(name)])
            let state = try #require(heard.first?.state)
            #expect(state.status == .expired && state.access == nil)
            #expect(try await notices.subscription()?.status == .active)
            #expect(try await database.count("customers", where: "reason = 'EXPIRED'") == 0)
        }
    }

    @Test("a chain of moves, and a return, keep the first grant")
    func chain() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            var (second, third) = (notices, notices)
            second.key = "2000000002"
            third.key = "3000000003"
            try await second.come("SUBSCRIBED", said: 1, period: "8", ends: 100_000, movedFrom: notices.key)
            try await third.come("SUBSCRIBED", said: 2, period: "9", ends: 100_000, movedFrom: second.key)
            try await third.come("REFUND", said: 3, period: "9", began: 2, ends: 100_000, revoked: .refunded)
            #expect(try #require(try await store.purchases.validation(id)).reason == "refunded")
            try await third.come("REFUND_REVERSED", said: 4, period: "9", began: 2, ends: 100_000)
            #expect(try await store.status(of: id) == .granted)
            try await notices.come("SUBSCRIBED", said: 5, period: "10", ends: 100_000, movedFrom: third.key)
            try await third.come("EXPIRED", said: 6, period: "9", began: 2, ends: 5, over: true, willRenew: false)
            #expect(try await store.status(of: id) == .granted)
            try await notices.come("EXPIRED", said: 7, period: "10", began: 5, ends: 100_000, over: true)
            #expect(try #require(try await store.purchases.validation(id)).reason == "expired")
        }
    }

    @Test("a move to an id with another owner is a transfer; the former grant ends")
    func moveToAnother() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let first = try await granted(notices)
            let second = try await store.takeAndGrant(
                .sample(receipt: .init(isText: false, bytes: Private([0x30, 1, 7]))).saying(
                    "1", ends: notices.at(86_400), statedAt: notices.at(0)))
            var bundle = notices
            bundle.key = "2000000002"
            let ben = try await store.takeAndGrant(
                .sample(customer: "ben@example.test", subscription: bundle.key).saying(
                    "9", ends: notices.at(100_000), statedAt: notices.at(0)))
            try await bundle.come("SUBSCRIBED", said: 1, period: "9", began: 0, ends: 100_000, movedFrom: notices.key)
            #expect(try await store.status(of: first) == .transferred)
            #expect(try await store.status(of: ben) == .granted)
            #expect(try await database.count("transfers") == 1)
            let cid = try await store.takeAndGrant(
                .sample(customer: "cid@example.test", subscription: bundle.key))
            #expect(try await store.status(of: ben) == .transferred)
            #expect(try await store.status(of: second) == .transferred)
            #expect(try await store.status(of: cid) == .granted)
        }
    }

    @Test("a refund ends every grant on it, including an older request's late one")
    func everyGrant() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            let other = try await granted(notices, "ben@example.test")
            try await database.run(
                "UPDATE validations SET status = 1, reason = NULL, settled_at = now() WHERE id = $1", .uuid(id.uuid))
            try await notices.come("REFUND", said: 1, began: 0, revoked: .refunded)
            #expect(try await store.status(of: id) == .revoked)
            #expect(try await store.status(of: other) == .revoked)
            try await notices.come("REFUND_REVERSED", said: 2, began: 0)
            #expect(try await store.status(of: id) == .revoked)
            #expect(try await store.status(of: other) == .granted)
        }
    }

    @Test("a receipt older than the renewal does not shorten Cleeng's grant")
    func staleReceipt() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let acceptance = try await Acceptance.sample().saying(
                "1", ends: notices.at(-86_400), statedAt: notices.at(-90_000))
            let claimed = try await store.takeAndClaim(acceptance)
            let end = try await notices.at(86_400)
            try await store.write(claimed.granted(expiresAt: end))
            try await notices.keep()
            #expect(try await store.purchases.validation(acceptance.id)?.expiresAt == end)
        }
    }

    @Test("after a move, the grant runs until the new id's end", arguments: [false, true])
    func endAfterMove(isSoldByTwoOffers: Bool) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            if isSoldByTwoOffers {
                _ = try await store.publishers.add("main")
                let products: [ProductID] = ["apple:com.example.monthly"]
                try await store.offers.put(
                    [Offer(id: "S1", products: products), Offer(id: "S123456789_US", products: products)], of: .first)
                try await store.offers.load()
            }
            let id = try await granted(notices)
            var bundle = notices
            bundle.key = "2000000002"
            try await bundle.come("SUBSCRIBED", said: 1, period: "9", ends: 5_000_000, movedFrom: notices.key)
            let validation = try #require(try await store.purchases.validation(id))
            let end = try await notices.at(5_000_000)
            #expect(validation.status == .granted)
            #expect(abs((try #require(validation.expiresAt) - end).microseconds) < 60_000_000)
        }
    }

    /// A command, or a copy in its first moment.
    @Test("the offers are read before a ledger is updated, once for all that wait for them")
    func unreadOffers() async throws {
        try await withStores(3) { database, stores in
            let notices = Notices(store: stores[0], database: database)
            _ = try await granted(notices)
            try await stores[0].offers.put([Offer(id: "S2", products: ["apple:other"])], of: .first)
            func isRead(_ store: RelayStore) -> Bool {
                store.memory.catalogue.offer(forProduct: "apple:other", of: .first) == "S2"
            }
            let store = stores[1]
            let waiting = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query("LOCK TABLE offers IN ACCESS EXCLUSIVE MODE")
                let begun = NIOLockedValueBox(0)
                let waiting = Task {
                    try await withThrowingTaskGroup { group in
                        for _ in 0..<20 {
                            group.addTask {
                                begun.withLockedValue { $0 += 1 }
                                try await store.offers.ready()
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                try await eventually { begun.withLockedValue { $0 } == 20 }
                try await database.waitUntilBlocked()
                // A second read would wait on the store's other connection.
                let blocked = try await database.value(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
                    as: Int.self)
                #expect(blocked == 1)
                return waiting
            }
            try await waiting.value
            #expect(isRead(store) && !isRead(stores[2]))
            try await Notices(store: stores[2], database: database).come("DID_RENEW", said: 1)
            #expect(isRead(stores[2]))
        }
    }

    @Test("a move into a bundle keeps customer and validation, and the old id's end changes nothing")
    func moved() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let id = try await granted(notices)
            var bundle = notices
            bundle.key = "2000000002"
            try await bundle.come("SUBSCRIBED", said: 1, period: "9", ends: 100_000, movedFrom: notices.key)
            try await notices.come("EXPIRED", said: 2, began: 0, ends: 1, over: true, willRenew: false)
            #expect(try await store.status(of: id) == .granted)
            let moved = try #require(try await bundle.subscription())
            #expect(moved.email == "ana@example.test" && moved.validation == id)
            try await bundle.come("REFUND", said: 3, period: "9", began: 1, ends: 100_000, revoked: .refunded)
            #expect(try #require(try await store.purchases.validation(id)).reason == "refunded")
            try await bundle.come("REFUND_REVERSED", said: 4, period: "9", began: 1, ends: 100_000)
            #expect(try await store.status(of: id) == .granted)
            // From there the subscription moves to another customer.
            let other = try Acceptance.sample(customer: "ben@example.test", subscription: bundle.key)
            try await store.takeAndGrant(other)
            #expect(try await store.status(of: id) == .transferred)
            #expect(try await store.status(of: other.id) == .granted)
            let transfer = try #require(try await store.ops.detail(other.id)?.transfer)
            #expect(transfer.fromValidation == id)
        }
    }
}
