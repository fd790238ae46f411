import Postgres
import RelayCore
import TestRun
import Testing

@testable import Relay

@Suite("A worker whose lease has expired changes nothing")
struct FenceTests {
    /// Every write that a worker can make for a pursuit.
    enum Writing: CaseIterable {
        case release, grant, rejection, timeout, renewal, giveBack

        /// - Returns: whether the write reported a lost lease; nil if it reports nothing.
        func run(_ claimed: ClaimedPursuit, on store: RelayStore) async throws -> Bool? {
            switch self {
            case .release: try await store.outcome(of: claimed.failed(retryAt: claimed.soon)) == .leaseLost
            case .grant: try await store.outcome(of: claimed.granted()) == .leaseLost
            case .rejection: try await store.outcome(of: claimed.rejected()) == .leaseLost
            case .timeout:
                try await store.outcome(of: claimed.timedOut(restingUntil: claimed.pursuit.deadline)) == .leaseLost
            case .renewal:
                try await store.purchases.renew([(claimed.id, claimed.fence)], lease: .seconds(60)).renewed.isEmpty
            case .giveBack:
                try await { () async throws -> Bool? in
                    try await store.purchases.giveBack([(claimed.id, claimed.fence)])
                    return nil
                }()
            }
        }
    }

    private static let tables = [
        "pursuits", "validations", "timeline", "purchases", "subscriptions", "transfers", "customers",
    ]

    private func picture(_ database: TestDatabase) async throws -> [[String]] {
        var picture: [[String]] = []
        for table in Self.tables { picture.append(try await database.picture(of: table)) }
        return picture
    }

    @Test("after another worker has claimed it", arguments: Writing.allCases)
    func takenOver(writing: Writing) async throws {
        try await withStores(2) { database, stores in
            let old = try await stores[0].takeAndClaim(.sample())
            try await database.makeDue(old.id)
            let new = try await stores[1].claimOne()
            let before = try await picture(database)
            #expect(try await writing.run(old, on: stores[0]) != false)
            #expect(try await picture(database) == before)
            // The write of the newer claim succeeds all the same.
            try await stores[1].write(new.rejected())
        }
    }

    @Test(
        "after the lease expired, even without another claim",
        arguments: TestRun.all(Writing.allCases, otherwise: 2))
    func ranOut(writing: Writing) async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await database.makeDue(claimed.id)
            let before = try await picture(database)
            #expect(try await writing.run(claimed, on: store) != false)
            #expect(try await picture(database) == before)
        }
    }

    @Test(
        "after it released the lease, as when an answer is lost and the write is repeated",
        arguments: TestRun.all(Writing.allCases, otherwise: 2))
    func givenBack(writing: Writing) async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            let write = claimed.failed(retryAt: claimed.pursuit.acceptedAt + .seconds(3_600))
            try await store.write(write)
            let before = try await picture(database)
            #expect(try await store.outcome(of: write) == .leaseLost)
            #expect(try await writing.run(claimed, on: store) != false)
            #expect(try await picture(database) == before)
        }
    }

    @Test("after a settlement with a pause", arguments: TestRun.all(Writing.allCases, otherwise: 2))
    func settledAndResting(writing: Writing) async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            let write = claimed.timedOut(restingUntil: claimed.pursuit.deadline + .seconds(3_600))
            try await store.write(write)
            let before = try await picture(database)
            #expect(try await store.outcome(of: write) == .leaseLost)
            #expect(try await writing.run(claimed, on: store) != false)
            #expect(try await picture(database) == before)
        }
    }

    @Test("after the pursuit has ended", arguments: TestRun.all(Writing.allCases, otherwise: 2))
    func ended(writing: Writing) async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.rejected())
            let before = try await picture(database)
            #expect(try await writing.run(claimed, on: store) != false)
            #expect(try await picture(database) == before)
        }
    }

    @Test("and parks nothing that it no longer holds")
    func parking() async throws {
        try await withStores(2) { database, stores in
            let old = try await stores[0].takeAndClaim(.sample())
            try await database.makeDue(old.id)
            let new = try await stores[1].claimOne()
            let before = try await picture(database)
            try await stores[0].purchases.park(old, why: "it cannot be written")
            #expect(try await picture(database) == before)
            try await stores[1].write(new.failed(retryAt: new.pursuit.deadline))
            let rested = try await picture(database)
            try await stores[1].purchases.park(new, why: "it cannot be written")
            #expect(try await picture(database) == rested)
        }
    }
}
