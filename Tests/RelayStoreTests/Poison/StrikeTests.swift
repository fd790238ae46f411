import Postgres
import RelayCore
import Testing

@testable import RelayStore

@Suite("A purchase that nobody gets through with")
struct StrikeTests {
    /// Claims it until it is not given back, and lets the lease run out; as often as this.
    private func claimInVain(_ store: RelayStore, _ database: TestDatabase, times: Int) async throws {
        for _ in 0..<times {
            let claimed = try await store.claimOne()
            try await store.purchases.note(trouble: "permission denied", of: claimed)
            try await database.makeDue(claimed.id)
        }
    }

    @Test("is parked after twenty-one claims, with the last error")
    func parked() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await claimInVain(store, database, times: 20)
            #expect(try await store.ops.detail(id)?.parking == nil)
            #expect(try await store.purchases.claimDue().isEmpty)
            let parking = try #require(try await store.ops.detail(id)?.parking)
            #expect(parking.reason.contains("20 times") && parking.reason.contains("permission denied"))
            // An operator's retry begins anew.
            try await store.ops.retry(id, by: "ops", reason: "mended")
            let claimed = try await store.claimOne()
            #expect(claimed.strikes == 0)
            try await store.write(claimed.granted())
        }
    }

    @Test("is no such thing where it is written or given back in between")
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

    @Test("keeps its strikes while it is put off, and nobody else can take it meanwhile")
    func postponed() async throws {
        try await withStores(2) { database, stores in
            let id = try await stores[0].take(.sample())
            try await claimInVain(stores[0], database, times: 12)
            for _ in 0..<30 {
                let claimed = try await stores[0].claimOne()
                #expect(claimed.strikes == 12)
                try await stores[0].purchases.postpone([claimed], by: .seconds(60))
                #expect(try await stores[1].purchases.claimDue().isEmpty)
                // Whoever had it may have sent it: its turn stays its own.
                #expect(try await database.count("pursuits", where: "sending") == 1)
                try await database.makeDue(id)
            }
        }
    }

    @Test("by the version before, which counts nothing, is not held against anybody")
    func olderVersion() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            for _ in 0..<50 {
                try await database.run(
                    "UPDATE pursuits SET owner = 'old', fence = fence + 1, due_at = now() - interval '1 second'")
            }
            #expect(try await store.claimOne().strikes == 1)
            // Nor does it say since when it has set a purchase aside: then it is the end of its lease.
            try await database.run("UPDATE pursuits SET phase = 2, owner = NULL, sending = false")
            let due = try await database.value("SELECT due_at FROM pursuits", as: PostgresTimestamp.self)
            let parking = try #require(try await store.ops.detail(id)?.parking)
            #expect(parking.since.microseconds == due.microsecondsSince1970)
            #expect(try await store.ops.validations(matching: ValidationFilter()).items.first?.parking == parking)
        }
    }
}
