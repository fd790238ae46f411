import Foundation
import Postgres
import RelayCore
import TestRun
import TestSupport
import Testing

@testable import Relay

/// A refund is known, Cleeng still entitles the customer, and the purchase is posted again.
@Suite("A refunded purchase")
struct KnownRefundTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    private func granted(_ database: TestDatabase) async throws -> Int {
        try await database.count("validations", where: "status = 1")
    }

    @Test("is never granted again, whichever customer posts it", arguments: [false, true])
    func postedAgain(byAnother: Bool) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: -20)
            let first = try await store.takeAndGrant(.sample(customer: ana))
            try await notices.come("REFUND", said: -5, began: -20, revoked: .refunded)
            try await notices.keep()
            #expect(try await store.status(of: first) == .revoked)
            try await database.run("DELETE FROM customers")

            let again = try await store.takeAndClaim(
                .sample(
                    customer: byAnother ? ben : ana, receipt: .init(isText: true, bytes: Private([1, 2]))))
            let waiter = store.memory.changes.register(again.id)
            defer { waiter.leave() }
            #expect(try await store.outcome(of: again.granted()) == .writtenRevoked(reason: "refunded"))
            let ended = try #require(try await store.purchases.validation(again.id))
            #expect(ended.status == .revoked && ended.reason == "refunded" && ended.settledAt != nil)
            #expect(await waiter.wait(until: .now + .seconds(180)).changed?.status == .revoked)
            let kinds = try #require(try await store.ops.detail(again.id)).timeline.map(\.event.kind)
            #expect(kinds.contains(.revoked) && !kinds.contains(.granted))
            #expect(try await database.count("purchases", where: "status = 5") == 2)
            // The grant moves nothing, and no endpoint receives a purchase.
            #expect(try await database.value("SELECT customer FROM subscriptions", as: String.self) == ana)
            #expect(try await database.count("transfers") == 0)
            #expect(try await database.count("customers") == 0)
            try await notices.keep()
            #expect(try await granted(database) == 0)

            try await notices.come("REFUND_REVERSED", said: 0, began: -20)
            #expect(try await store.status(of: first) == .granted)
            #expect(try await store.status(of: again.id) == (byAnother ? .revoked : .granted))
        }
    }

    @Test("reaches the publisher as a refund if it was known before the first purchase")
    func knownFirst() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("REFUND", said: -5, began: -20, revoked: .refunded)
            let claimed = try await store.takeAndClaim(.sample(customer: ana))
            #expect(try await store.outcome(of: claimed.granted()) == .writtenRevoked(reason: "refunded"))
            #expect(try await database.column("SELECT reason FROM customers", as: String.self) == ["REFUNDED"])
            try await notices.come("REFUND_REVERSED", said: 0, began: -20)
            #expect(try await store.status(of: claimed.id) == .granted)
        }
    }

    /// Only the app gave the purchase this id: a pass that has left the receipt. Apple's word about the id ends it, also
    /// before the grant, and never lengthens it.
    @Test("ends a purchase that only the app named by its id", arguments: [false, true])
    func onlyNamed(isKnown: Bool) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            func refund() async throws {
                try await notices.come("REFUND", said: -5, began: -20, revoked: .refunded)
            }
            if isKnown { try await refund() }
            let claimed = try await store.takeAndClaim(.sample(customer: ana, environment: "unknown"))
            let outcome = try await store.outcome(of: claimed.granted())
            #expect(outcome == (isKnown ? .writtenRevoked(reason: "refunded") : .written))
            if !isKnown {
                try await notices.come("SUBSCRIBED", said: -20, ends: 864_000)
                try await notices.keep()
                #expect(try await store.status(of: claimed.id) == .granted)
                let end = try #require(try await store.purchases.validation(claimed.id)).expiresAt
                let lengthened = try await notices.at(86_400)
                #expect(end.map { $0 < lengthened } ?? true)
                try await refund()
                try await notices.keep()
            }
            let ended = try #require(try await store.purchases.validation(claimed.id))
            #expect(ended.status == .revoked && ended.reason == "refunded")
            try await notices.come("REFUND_REVERSED", said: 0, began: -20)
            try await notices.keep()
            #expect(try await store.status(of: claimed.id) == .granted)
        }
    }

    @Test("does not affect a customer who had the offer before by another purchase")
    func entitledBefore() async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            try await notices.come("SUBSCRIBED", said: -20)
            try await store.takeAndGrant(.sample(customer: ana))
            try await notices.come("REFUND", said: -5, began: -20, revoked: .refunded)
            let claimed = try await store.takeAndClaim(.sample(customer: ben))
            var grant = claimed.granted()
            grant.pursuit.entitledBefore = true
            guard case .ownerInDoubt = try await store.outcome(of: grant) else {
                Issue.record("the owner is not asked about")
                return
            }
            let later = try await database.now() + claimed.patience + .seconds(1)
            grant.ownerReading = .init(isEntitled: true, observedAt: later)
            #expect(try await store.outcome(of: grant) == .written)
            #expect(try await store.status(of: claimed.id) == .granted)
        }
    }

    /// Neither transaction sees the other until one has committed. The ledger is not evaluated afterwards.
    @Test(
        "is not granted if the refund arrives during the grant",
        arguments: TestRun.all(Array(0..<12), otherwise: 4))
    func inTheSameInstant(round: Int) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let claimed = try await store.takeAndClaim(.sample(customer: ana))
            let delay = Duration.microseconds(round * 300)
            async let refund = notices.come("REFUND", said: 0, began: -20, revoked: .refunded)
            try await Task.sleep(for: delay)
            let outcome = try await store.outcome(of: claimed.granted())
            _ = try await refund
            #expect(outcome.isWritten)
            #expect(try await store.status(of: claimed.id) == .revoked)
        }
    }

    /// The first of the two transactions has written the ledger and waits for a lock; then the other one reaches the
    /// ledger.
    @Test("is not granted if grant and refund write the ledger concurrently", arguments: [true, false])
    func inTheLedger(isGrantFirst: Bool) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database)
            let claimed = try await store.takeAndClaim(.sample(customer: ana))
            // After the ledger, a grant writes customers and a notification writes events.
            let table = isGrantFirst ? "customers" : "subscription_events"
            let (granting, refunding) = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(SQL(unescaped: "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE"))
                let grant = { Task { try await store.outcome(of: claimed.granted()) } }
                let refund = { Task { try await notices.come("REFUND", said: 0, began: -20, revoked: .refunded) } }
                let granting: Task<PursuitWriteOutcome, any Error>
                let refunding: Task<ReceiveOutcome, any Error>
                if isGrantFirst {
                    granting = grant()
                    try await database.waitUntilBlocked()
                    refunding = refund()
                } else {
                    refunding = refund()
                    try await database.waitUntilBlocked()
                    granting = grant()
                }
                try await database.waitUntilBlocked(2)
                return (granting, refunding)
            }
            #expect(try await granting.value.isWritten)
            _ = try await refunding.value
            #expect(try await store.status(of: claimed.id) == .revoked)
        }
    }

    /// Purchases, grants, refunds, reversals, renewals and evaluations, in any order.
    @Test(
        "is not granted until the store reverses the refund",
        arguments: TestRun.all([UInt64](0..<20), otherwise: 5))
    func inAnyOrder(seed: UInt64) async throws {
        try await withStore { database, store in
            var generator = SeededGenerator(seed: seed)
            let notices = Notices(store: store, database: database, from: try await database.now())
            var waiting: [ClaimedPursuit] = []
            var isRevoked: [Bool] = []
            var moment = -400.0
            var log: [String] = []
            for step in 0..<24 {
                moment += 1
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<4:
                    guard waiting.isEmpty else { continue }
                    let customer = Bool.random(using: &generator) ? ana : ben
                    waiting.append(
                        try await store.takeAndClaim(
                            .sample(customer: customer, receipt: .init(isText: true, bytes: Private([9, UInt8(step)])))
                        ))
                    log.append("post \(customer)")
                case 4..<7:
                    guard let claimed = waiting.popLast() else { continue }
                    log.append("grant: \(try await store.outcome(of: claimed.granted()))")
                case 7:
                    let period = isRevoked.isEmpty ? 0 : Int.random(in: isRevoked.indices, using: &generator)
                    if isRevoked.isEmpty { isRevoked.append(true) }
                    isRevoked[period] = true
                    try await notices.come(
                        "REFUND", said: moment, period: "\(period)", began: -500 + Double(period), revoked: .refunded)
                    log.append("refund \(period)")
                case 8:
                    let period = Bool.random(using: &generator) ? isRevoked.count : max(0, isRevoked.count - 1)
                    if period == isRevoked.count { isRevoked.append(false) } else { isRevoked[period] = false }
                    try await notices.come(
                        "DID_RENEW", said: moment, period: "\(period)", began: -500 + Double(period))
                    log.append("runs \(period)")
                default:
                    try await notices.keep()
                    log.append("look")
                }
                guard !isRevoked.isEmpty, isRevoked.allSatisfy(\.self) else { continue }
                let shown = try await granted(database)
                #expect(shown == 0, "\(log)")
                guard shown == 0 else { return }
            }
        }
    }
}
