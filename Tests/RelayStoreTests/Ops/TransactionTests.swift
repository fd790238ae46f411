import RelayCore
import Testing

@testable import Relay

@Suite("An act and its row are one transaction")
struct TransactionTests {
    private struct Refused: Error {}

    @Test("several functions take effect together or not at all")
    func together() async throws {
        try await withStore { database, store in
            await #expect(throws: Refused.self) {
                try await store.transaction { store in
                    _ = try await store.publishers.add("south")
                    // Outside of a transaction, this call has one of its own.
                    try await store.offers.put([Offer(id: "S1", products: ["apple:a"])], of: "south")
                    throw Refused()
                }
            }
            #expect(try await database.count("publishers") == 0)
            #expect(try await database.count("offers") == 0)
            try await store.transaction { store in
                _ = try await store.publishers.add("south")
                try await store.offers.put([Offer(id: "S1", products: ["apple:a"])], of: "south")
                try await store.audit.add(AuditEntry(actor: "Nora", .offersImported, "south", of: "south"))
            }
            #expect(try await database.count("offers") == 1)
            #expect(try await database.count("audit_log") == 1)
        }
    }

    @Test("waiters are notified only of committed changes")
    func told() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample(subscription: "s"))
            await #expect(throws: Refused.self) {
                try await store.transaction { store in
                    _ = try await store.ops.abandon(id, in: .all, by: "Nora", reason: "a test")
                    throw Refused()
                }
            }
            #expect(try await store.purchases.validation(id)?.status == .pending)
            try await store.transaction { inner in
                _ = try await inner.ops.abandon(id, in: .all, by: "Nora", reason: "a test")
                // Other sessions read the committed row.
                #expect(try await store.purchases.validation(id)?.status == .pending)
            }
            #expect(try await store.purchases.validation(id)?.status == .rejected)
        }
    }

    private final class Witness: Sendable {
        private let gone: Confirmation

        init(_ gone: Confirmation) { self.gone = gone }

        deinit { gone() }
    }

    @Test("what waits for the commit is let go after it, and after a failure", arguments: [false, true])
    func letGo(fails: Bool) async throws {
        try await withStore { _, store in
            try await confirmation { gone in
                do {
                    try await store.transaction { inner in
                        let witness = Witness(gone)
                        inner.database.afterCommit { withExtendedLifetime((inner, witness)) {} }
                        if fails { throw Refused() }
                    }
                } catch is Refused {}
            }
        }
    }

    @Test("an endpoint that failed deliveries disable has a row by the relay")
    func disabled() async throws {
        try await withStore { _, store in
            try await store.webhooks.ensureFirstPublisher()
            let id = try #require(try await store.webhooks.addEndpoint(publisher: "main", url: "https://a.example.com"))
            #expect(try await store.webhooks.note(.disabled(.gone), of: id))
            #expect(try await store.webhooks.note(.disabled(.gone), of: id) == false)
            let rows = try await store.audit.list(matching: AuditFilter()).items
            #expect(rows.count == 1 && rows[0].actor == "relay" && rows[0].action == "endpoint.disable")
            #expect(rows[0].target.value == "\(id)" && rows[0].reason?.value == "gone")
        }
    }

    @Test("a started row gets its outcome at the end")
    func amended() async throws {
        try await withStore { _, store in
            var entry = AuditEntry(actor: "Nora", .retentionRun, "days: 90", of: nil, reason: "a ticket")
            let row = try await store.audit.begin(entry)
            entry.reason = "a ticket (done)"
            try await store.audit.amend(row, entry)
            let rows = try await store.audit.list(matching: AuditFilter()).items
            #expect(rows.map { $0.reason?.value } == ["a ticket (done)"])
        }
    }
}
