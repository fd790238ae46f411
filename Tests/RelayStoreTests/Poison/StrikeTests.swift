import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A purchase that fails at every claim")
struct StrikeTests {
    /// Claims the purchase this many times, and lets each lease expire.
    private func claimInVain(_ store: RelayStore, _ database: TestDatabase, times: Int) async throws {
        for _ in 0..<times {
            let claimed = try await store.claimOne()
            try await store.purchases.note(trouble: "permission denied", of: claimed)
            try await database.makeDue(claimed.id)
        }
    }

    @Test("is parked instead of a twenty-first claim, with the last error")
    func parked() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await claimInVain(store, database, times: 20)
            #expect(try await store.ops.detail(id)?.parking == nil)
            #expect(try await store.purchases.claimDue().isEmpty)
            let parking = try #require(try await store.ops.detail(id)?.parking)
            #expect(parking.reason.contains("20 times") && parking.reason.contains("permission denied"))
            // An operator's retry resets the strikes.
            try await store.ops.retry(id, by: "ops", reason: "mended")
            let claimed = try await store.claimOne()
            #expect(claimed.strikes == 0)
            try await store.write(claimed.granted())
        }
    }

    @Test("loses its strikes when it is written or released")
    func givenBack() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            for _ in 0..<3 {
                try await claimInVain(store, database, times: 15)
                let claimed = try await store.claimOne()
                #expect(claimed.strikes == 15)
                try await store.purchases.giveBack([(claimed.id, claimed.fence)])
            }
            let claimed = try await store.claimOne()
            #expect(claimed.strikes == 0)
            try await store.write(claimed.failed(retryAt: claimed.pursuit.acceptedAt))
            try await database.makeDue(id)
            #expect(try await store.claimOne().strikes == 0)
        }
    }

    @Test("keeps its strikes while it is postponed, and no other copy can claim it meanwhile")
    func postponed() async throws {
        try await withStores(2) { database, stores in
            let id = try await stores[0].take(.sample())
            try await claimInVain(stores[0], database, times: 12)
            for _ in 0..<30 {
                let claimed = try await stores[0].claimOne()
                #expect(claimed.strikes == 12)
                try await stores[0].purchases.postpone([claimed], by: .seconds(60))
                #expect(try await stores[1].purchases.claimDue().isEmpty)
                // Its worker may have sent it, so it keeps its turn.
                #expect(try await database.count("pursuits", where: "sending") == 1)
                try await database.makeDue(id)
            }
        }
    }

    @Test("gets no strikes from the version before, which counts none")
    func olderVersion() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            for _ in 0..<50 {
                try await database.run(
                    "UPDATE pursuits SET owner = 'old', fence = fence + 1, due_at = now() - interval '1 second'")
            }
            #expect(try await store.claimOne().strikes == 1)
            // That version does not store when it parked a purchase. Then the end of the lease counts.
            try await database.run("UPDATE pursuits SET phase = 2, owner = NULL, sending = false")
            let due = try await database.value("SELECT due_at FROM pursuits", as: PostgresTimestamp.self)
            let parking = try #require(try await store.ops.detail(id)?.parking)
            #expect(parking.since.microseconds == due.microsecondsSince1970)
            #expect(try await store.ops.validations(matching: ValidationFilter()).items.first?.parking == parking)
        }
    }
}
