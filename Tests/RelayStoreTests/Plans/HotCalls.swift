import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

/// At least one of each call that a running relay makes regularly, for some new customers.
struct HotCalls {
    /// Number of customers, and highest number of rows in one call.
    static let size = 12

    let store: RelayStore
    let database: TestDatabase
    let endpoint: EndpointID
    /// Part of the name of every row.
    let tag: String

    private var numbers: Range<Int> { 0..<Self.size }

    func run() async throws {
        _ = try await store.queues.due()
        let bought = try await purchases()
        try await ledgers(bought)
        try await tell()
        try await changes(bought)
        try await notifications(bought)
        try await events()
        try await receipts()
        try await questions()
        try await reads(bought)
        try await tell()
        try await deliver()
    }

    // MARK: Purchases

    private func samples(of who: String, _ subscription: String, receipt: UInt8 = 0) throws -> [Acceptance] {
        try numbers.map { number in
            let name = "\(tag)-\(who)-\(number)"
            return try .sample(
                customer: "\(name)@example.test", subscription: "\(tag)-\(subscription)-\(number)",
                receipt: .init(isText: false, bytes: Private([0x30, 0x01, receipt])),
                idempotencyKey: .sample("\(name) \(receipt)", body: "\(name)"))
        }
    }

    private func claimed(_ samples: [Acceptance]) async throws -> [ClaimedPursuit] {
        _ = try await acceptAll(samples, by: [store.intake()])
        return try await due()
    }

    private func due() async throws -> [ClaimedPursuit] {
        let claimed = try await store.purchases.claimDue(limit: Self.size)
        try #require(claimed.count == Self.size)
        return claimed
    }

    /// Pursuits that Cleeng has accepted, claimed again for the reads of their customers.
    private func watched(_ claimed: [ClaimedPursuit]) async throws -> [ClaimedPursuit] {
        let rests = claimed.map { $0.watching(until: $0.pursuit.deadline + .seconds(3_600)) }
        try #require(try await store.purchases.release(rests).allSatisfy { $0 == .written })
        let watched = try await store.purchases.claimSiblings(
            of: claimed.map(\.customerKey), lease: RelayStore.lease)
        try #require(watched.count == Self.size)
        return watched
    }

    private func settle(_ writes: [PursuitWrite]) async throws {
        try #require(try await store.purchases.settle(writes).allSatisfy { $0 == .written })
    }

    /// Purchases that are granted, granted again and transferred, and others that time out or are rejected by Cleeng.
    private func purchases() async throws -> [Acceptance] {
        let samples = try samples(of: "ana", "one")
        let given = try await claimed(samples)
        _ = try await acceptAll(samples, by: [store.intake()])
        try await store.purchases.giveBack(given.map { ($0.id, $0.fence) })
        let first = try await due()
        _ = try await store.purchases.claimExpired(
            phases: Pursuit.Phase.unsent, limit: Self.size, lease: RelayStore.lease)
        _ = try await store.purchases.renew(first.map { ($0.id, $0.fence) }, lease: RelayStore.lease)
        for one in first {
            _ = try await store.purchases.claimOvertaken(by: one, lease: RelayStore.lease)
            _ = try await store.purchases.purchase(one.id, by: .receipt)
        }
        let customers = first.map(\.customerKey)
        for _ in 0..<2 { _ = try await store.purchases.takeReads(of: customers, interval: .seconds(5)) }
        try await store.purchases.holdReads(of: customers[0], for: .seconds(1), interval: .seconds(5))
        try await store.purchases.postpone(first, by: RelayStore.lease)
        let watched = try await watched(first)
        try await settle(watched.map { $0.granted() })
        try await settle(try await claimed(try self.samples(of: "ana", "one", receipt: 1)).map { $0.granted() })
        let passed = try self.samples(of: "ben", "one")
        try await settle(try await claimed(passed).map { $0.granted() })

        let late = try await self.watched(try await claimed(try self.samples(of: "cleo", "two")))
        try await settle(late.map { $0.timedOut(restingUntil: $0.pursuit.deadline + .seconds(3_600)) })
        let word = UpstreamStatement(.refused(reason: "no"), saidAt: try await database.now(), summary: "no")
        var told: [ClaimedPursuit] = []
        for one in late {
            let subject = EventSubject(customer: one.customer, offerID: one.offerID)
            told += try await store.purchases.claimWaiting(for: word, of: subject, lease: RelayStore.lease).claimed
            _ = try await store.events.owned(by: subject)
        }
        try #require(told.count == Self.size)
        try await settle(told.map { $0.rejected() })
        return passed
    }

    // MARK: Subscriptions

    private func name(_ acceptance: Acceptance) -> SubscriptionName {
        SubscriptionName(
            publisher: acceptance.publisher, environment: acceptance.environment,
            originalTransactionID: acceptance.subscriptionKey)
    }

    private func ledgers(_ bought: [Acceptance]) async throws {
        _ = try await store.database.query(LedgerTransaction.lookAgain(at: bought.map(name)))
        let due = try await store.subscriptions.claimDue(limit: Self.size, lease: .seconds(60))
        try #require(due.count == Self.size)
        let heard = try await store.subscriptions.record(due.map { LedgerMessage($0.name) })
        try #require(heard.allSatisfy { $0.owner != nil })
        try await store.queues.clear(due.map(\.row))
        try await store.queues.giveBack(due.map(\.row), after: .seconds(600))
        try await store.subscriptions.lookAgain(at: due[0].name, trouble: "none", within: .seconds(600))
    }

    /// Each subscription is renewed and then ended by the App Store; some continue under another id.
    private func notifications(_ bought: [Acceptance]) async throws {
        for (number, one) in bought.enumerated() {
            var notices = Notices(store: store, database: database, key: one.subscriptionKey.text)
            try await notices.come("DID_RENEW", said: 0)
            try await notices.come("EXPIRED", said: 1, over: true)
            guard number < 3 else { continue }
            let old = notices.key
            notices.key += "-moved"
            try await notices.come("DID_RENEW", said: 2, period: "2", movedFrom: old)
        }
        let claimed = try await store.notifications.claim(limit: Self.size, lease: .seconds(60))
        try #require(claimed.count == Self.size)
        try await store.queues.giveBack(claimed.map(\.row))
        for one in try await store.notifications.claim(limit: 100, lease: .seconds(60)) {
            try await store.notifications.record(
                .failed("no", next: .seconds(3_600), standsAside: true), of: one)
        }
        for one in try await store.notifications.claim(limit: 100, lease: .seconds(60)) {
            try await store.notifications.record(.delivered, of: one)
        }
    }

    /// Google sends notifications of purchases, which lead to questions.
    private func questions() async throws {
        for number in numbers {
            let key = TransactionID("google:\(tag)-\(number)")
            _ = try await store.notifications.receive(
                ReceivedNotification(.google(key), body: [], isRelayed: PerPublisher(false)),
                now: try await database.now())
        }
        let claimed = try await store.questions.claim([.google: Self.size], lease: .seconds(60))
        try #require(claimed.count == Self.size)
        for (number, one) in claimed.enumerated() {
            _ = try await store.questions.known(one)
            if number == 0 {
                try await store.questions.postpone(one, trouble: "none", by: .seconds(600))
            } else {
                try await store.questions.end(one)
            }
        }
        _ = try await store.questions.running(claimed.map(\.name.originalTransactionID), of: "main")
    }

    private func receipts() async throws {
        for number in numbers {
            let subscription = SubscriptionName(
                publisher: "main", environment: .production,
                originalTransactionID: TransactionID("\(tag)-three-\(number)"))
            let customer = CustomerName(publisher: "main", username: Username("\(tag)-dora-\(number)"))
            _ = try await store.customers.enter(
                [LedgerMessage(subscription)], for: customer, app: "com.example.tv")
        }
    }

    // MARK: Reads

    private func changes(_ bought: [Acceptance]) async throws {
        let waiter = store.memory.changes.register(bought[0].id)
        defer { waiter.leave() }
        try await ChangeFeed(store: store).runOnce()
        let name = CustomerName(publisher: "main", username: bought[0].applicationUsername)
        _ = try await store.customers.purchases(of: name)
        try await CustomerFeed(store: store).runOnce()
    }

    private func reads(_ bought: [Acceptance]) async throws {
        for one in bought {
            _ = try await store.purchases.validation(one.id)
            _ = try await store.purchases.polled(one.id)
            let customer = one.email.customer
            _ = try await store.subscriptions.entitlement(
                of: customer, to: one.offerID, publisher: one.publisher)
            _ = try await store.subscriptions.entitlements(
                of: customer, publisher: one.publisher)
            _ = try await store.subscriptions.holding(of: name(one), offer: one.offerID)
            _ = try await store.subscriptions.owned(
                by: CustomerKey(publisher: one.publisher, customer: customer))
        }
        _ = try await store.purchases.validations(bought.map(\.id))
        _ = try await store.customers.purchases(
            of: bought.map { CustomerName(publisher: "main", username: $0.applicationUsername) })
    }

    // MARK: Queues

    private func events() async throws {
        for number in numbers {
            _ = try await store.events.receive(
                topic: "test", body: Array(#"{"event":"\#(tag) \#(number)"}"#.utf8), now: try await database.now())
        }
        let claimed = try await store.events.claim(limit: Self.size, lease: .seconds(60))
        try #require(claimed.count == Self.size)
        for event in claimed { try await store.events.finish(event, outcome: "done") }
    }

    private func tell() async throws {
        let updates = CustomerUpdates(store: store)
        while try await updates.queueMessages(limit: Self.size).customers > 0 {}
    }

    private func deliver() async throws {
        while case let claimed = try await store.webhooks.claim(endpoint, Self.size), !claimed.isEmpty {
            _ = try await store.webhooks.record(
                claimed.enumerated().map { number, delivery in
                    DeliveryRecord(delivery, number == 0 ? .again(after: .seconds(3_600)) : .delivered)
                })
        }
    }
}

extension ClaimedPursuit {
    fileprivate var customerKey: CustomerKey { CustomerKey(publisher: publisher, customer: customer) }
}
