import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("One validation in the ops API")
struct DetailTests {
    @Test("has all posted data except the receipt")
    func fields() async throws {
        try await withStore { database, store in
            let sample = try Acceptance.sample(environment: "Sandbox")
            try await store.take(sample)
            let detail = try #require(try await store.ops.detail(sample.id))
            #expect(detail.validation == (try await store.purchases.validation(sample.id)))
            #expect(detail.appType == "ios" && detail.couponCode == "SUMMER")
            #expect(detail.transactionID == sample.transactionID)
            #expect(detail.originalTransactionID == sample.subscriptionKey)
            #expect(detail.environment == "Sandbox")
            #expect(detail.productID == sample.productID && detail.bundleID == sample.bundleID)
            #expect(detail.applicationUsername == sample.applicationUsername)
            #expect(detail.isReceiptReadable)
            #expect(detail.entitledBefore == nil && detail.evidence == nil && detail.transfer == nil)
            #expect(detail.attempts == 0 && detail.parking == nil && detail.leaseOwner == nil)
            #expect(detail.nextStepAt == detail.validation.acceptedAt)
            #expect(detail.timeline.map(\.event.kind) == [.accepted])
        }
    }

    @Test("is nil for an unknown id, also for one that differs in bucket or day only")
    func unknown() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            let elsewhere = [
                ValidationID(bucket: Bucket(number: id.bucket.number &+ 1), day: id.day, high: id.high, low: id.low),
                ValidationID(bucket: id.bucket, day: id.day &+ 1, high: id.high, low: id.low),
                ValidationID(bucket: id.bucket, day: id.day, high: id.high, low: id.low &+ 1),
                ValidationID(bucket: id.bucket, day: .max, high: 0, low: 0),
            ]
            for other in elsewhere {
                #expect(try await store.ops.detail(other) == nil)
                #expect(try await store.purchases.validation(other) == nil)
            }
        }
    }

    @Test("lists events in order, over several claims and an operator's retry")
    func timeline() async throws {
        try await withStores(2) { database, stores in
            let first = try await stores[0].takeAndClaim(.sample())
            try await stores[0].write(first.failed(retryAt: first.soon))
            try await database.makeDue(first.id)
            try await stores[1].write(try await stores[1].claimOne().rejected())
            try await stores[0].ops.retry(first.id, by: "ops key", reason: "the token was wrong")
            try await stores[0].write(try await stores[0].claimOne().granted())

            let detail = try #require(try await stores[0].ops.detail(first.id))
            #expect(
                detail.timeline.map(\.event.kind) == [
                    .accepted, .forwardFailed, .forwarded, .rejected, .retried, .forwarded, .entitlementRead, .granted,
                ])
            #expect(detail.timeline[1].instance == "one")
            #expect(detail.timeline[2].instance == "store-1")
            #expect(detail.timeline[4].event.detail == "by ops key: the token was wrong")
            #expect(detail.attempts == 3)
            #expect(detail.validation.status == .granted)
        }
    }

    @Test("shows attempts, baseline and lease while it is pursued")
    func underWay() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            #expect(try await store.ops.detail(claimed.id)?.leaseOwner == "one")
            var write = claimed.failed(retryAt: claimed.pursuit.deadline)
            write.pursuit.entitledBefore = true
            try await store.write(write)
            let detail = try #require(try await store.ops.detail(claimed.id))
            #expect(detail.attempts == 1 && detail.entitledBefore == true)
            #expect(detail.leaseOwner == nil && detail.nextStepAt == claimed.pursuit.deadline)
        }
    }

    @Test("keeps attempts and baseline after the pursuit has ended without a change of status")
    func afterTheWatch() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.timedOut(restingUntil: claimed.pursuit.deadline))
            try await database.makeDue(claimed.id)
            let sent = try await store.claimOne()
            var write = sent.watching(until: sent.soon)
            write.pursuit.entitledBefore = false
            try await store.write(write)
            try await database.makeDue(claimed.id)
            let last = try await store.claimOne()
            try await store.write(
                PursuitWrite(claimed: last, pursuit: last.pursuit, change: nil, events: [], next: .finished))
            let detail = try #require(try await store.ops.detail(claimed.id))
            #expect(detail.attempts == 1)
            #expect(detail.entitledBefore == false)
        }
    }

    @Test("is timed_out past the deadline, in status and timeline, even before that is written")
    func judged() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await database.letPass(seconds: 60)
            let detail = try #require(try await store.ops.detail(id))
            #expect(detail.validation.status == .timedOut)
            #expect(detail.validation.settledAt == detail.validation.deadline)
            #expect(detail.timeline.map(\.event.kind) == [.accepted, .timedOut])
            #expect(try await database.value("SELECT status FROM validations", as: Int.self) == 0)
        }
    }
}
