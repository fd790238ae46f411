import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The same purchase sent again")
struct SamePurchaseTests {
    @Test("is one validation and one pursuit, whatever the number and processes of concurrent posts", arguments: 1...3)
    func atOnce(round: Int) async throws {
        try await withStores(2) { database, stores in
            let samples = try (0..<50).map { _ in try Acceptance.sample() }
            let outcomes = try await acceptAll(samples, by: stores.map { $0.intake() })
            let created = zip(samples, outcomes).filter { $0.1.isCreated }.map(\.0.id)
            try #require(created.count == 1)
            #expect(outcomes.compactMap(\.existing) == Array(repeating: created[0], count: 49))
            for table in ["validations", "receipts", "pursuits", "purchases"] {
                #expect(try await database.count(table) == 1)
            }
        }
    }

    @Test("among others in large batches of two processes: still one each")
    func amongOthers() async throws {
        try await withStores(2) { database, stores in
            let samples = try (0..<240).map { try Acceptance.sample(subscription: "\($0 % 40)") }
            let outcomes = try await acceptAll(samples.shuffled(), by: stores.map { $0.intake() })
            #expect(outcomes.filter(\.isCreated).count == 40)
            #expect(try await database.count("validations") == 40)
            #expect(try await database.count("pursuits") == 40)
        }
    }

    @Test("waits for the first one's commit, and replaces it if that fails")
    func waits() async throws {
        try await withStores(2) { database, stores in
            let other = try Acceptance.sample()
            let sample = try Acceptance.sample()
            struct Away: Error {
                let accepting: Task<AcceptOutcome, any Error>
            }
            let away = await #expect(throws: Away.self) {
                try await database.hand.withTransaction { transaction in
                    _ = try await transaction.query(AcceptStatement.query([other], timeout: .seconds(60)))
                    let accepting = Task { try await stores[0].accept(sample) }
                    try await database.waitUntilBlocked()
                    throw Away(accepting: accepting)
                }
            }
            let accepting = try #require(away?.accepting)
            #expect(try await accepting.value.isCreated)
            #expect(try await stores[0].purchases.validation(other.id) == nil)
        }
    }

    @Test("naming another transaction of the same receipt is the same one, also in one batch with it")
    func otherTransaction() async throws {
        try await withStore { database, store in
            var samples = try (0..<2).map { try Acceptance.sample(subscription: "\($0)") }
            samples[1].purchaseKey = samples[0].purchaseKey
            let error = await postgresError {
                try await database.hand.query(AcceptStatement.query(samples, timeout: .seconds(60)))
            }
            #expect(error?.sqlState == "21000")
            samples += try (2..<10).map { try Acceptance.sample(subscription: "\($0)") }
            let outcomes = try await acceptAll(samples, by: [store.intake()])
            #expect(outcomes[..<2].filter(\.isCreated).count == 1)
            #expect(outcomes[..<2].compactMap(\.existing).count == 1)
            #expect(outcomes[2...].filter(\.isCreated).count == 8)
            #expect(try await database.count("pursuits") == 9)
        }
    }

    @Test("is the same one while it is pending and once it is granted")
    func alive() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            #expect(try await store.accept(.sample()) == .existing(id))
            try await store.write(try await store.claimOne().granted())
            #expect(try await store.accept(.sample()) == .existing(id))
            try await database.letPass(seconds: 3_600)
            #expect(try await store.accept(.sample()) == .existing(id))
            #expect(try await database.count("validations") == 1)
        }
    }

    @Test("gets a new validation after a rejection")
    func afterRejection() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample())
            try await store.write(old.rejected())
            let fresh = try await store.take(.sample())
            #expect(try await store.status(of: old.id) == .rejected)
            #expect(try await store.status(of: fresh) == .pending)
            #expect(try await store.accept(.sample()) == .existing(fresh))
        }
    }

    @Test("gets a new validation at the deadline, even before the timeout is written")
    func pastDeadline() async throws {
        try await withStore { database, store in
            let old = try await store.take(.sample())
            try await database.letPass(seconds: 30)
            #expect(try await store.accept(.sample()) == .existing(old))
            try await database.letPass(seconds: 30)
            let fresh = try await store.take(.sample())
            #expect(try await database.value("SELECT id FROM purchases", as: UUID.self) == fresh.uuid)
        }
    }

    @Test("gets a new validation after a transfer to another customer")
    func afterTransfer() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            try await store.takeAndGrant(.sample(customer: "ben@example.test"))
            #expect(try await store.status(of: old) == .transferred)
            let fresh = try await store.take(.sample(customer: "ana@example.test"))
            #expect(fresh != old)
        }
    }

    @Test("keeps the new validation, whatever happens to the old one later")
    func lateEnd() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample())
            try await store.write(old.timedOut(restingUntil: old.pursuit.deadline))
            let fresh = try await store.take(.sample())
            try await database.makeDue(old.id)
            let again = try #require(try await store.purchases.claimDue().first { $0.id == old.id })
            try await store.write(again.granted(observedAt: again.pursuit.deadline + .seconds(5)))
            #expect(try await store.purchases.validation(old.id)?.late == true)
            #expect(try await store.status(of: old.id) == .granted)
            #expect(try await database.value("SELECT id FROM purchases", as: UUID.self) == fresh.uuid)
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == 0)
            #expect(try await store.accept(.sample()) == .existing(fresh))
        }
    }
}
