import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

/// Seals a database in use, and opens it again. The rows show the result.
@Suite struct EncryptionRunTests {
    static let names = [
        "ana@example.test", "sealed.bid@example.test", "sealed1:ana@example.test", "sealed0:sealed1@example.test",
    ]

    /// One purchase for each receipt that looks sealed, and one for a receipt that does not.
    static func acceptances(_ prefix: String = "9") throws -> [Acceptance] {
        try (BytesThatLookSealed.all + [[0x30, 0x03, 1, 2, 3]]).enumerated().map { index, bytes in
            try .sample(
                customer: names[index % names.count], subscription: "\(prefix)\(index)",
                receipt: Acceptance.Receipt(isText: false, bytes: Private(bytes)))
        }
    }

    /// Expects each purchase with its original data, and in its customer's list.
    static func expectAll(_ acceptances: [Acceptance], in store: RelayStore) async throws {
        for one in acceptances {
            let purchase = try await store.purchases.purchase(one.id, by: .receipt)
            #expect(purchase.receipt?.bytes == one.receipt.bytes)
            #expect(purchase.email == one.email.sent && purchase.ipAddress == one.ipAddress)
            #expect(try await store.purchases.validation(one.id)?.customer == one.email.customer)
            let listed = try await store.ops.validations(
                matching: ValidationFilter(customer: one.email.customer, limit: 1_000)
            ).items
            #expect(listed.contains { $0.id == one.id }, "\(one.email.customer)")
        }
    }

    /// Contents of the private tables.
    static func picture(_ database: TestDatabase) async throws -> [String] {
        var rows: [String] = []
        for table in PrivateColumns.all { rows += try await database.picture(of: table.table) }
        return rows
    }

    static func run(_ store: RelayStore, _ direction: EncryptionRun.Direction) async throws -> Int {
        try await EncryptionRun(store: store, direction: direction).run { _ in }
    }

    static func key() throws -> WrappingKey { try #require(WrappingKey(base64: WrappingKey.make())) }

    @Test func rowsOfAFeatureThatTheBuildLacksAreNotLeftBehind() async throws {
        try await withStore { database, _ in
            try await database.run(
                """
                INSERT INTO billing_customers (bucket, id, publisher, created_at, details, sealed_by)
                VALUES (1, repeat('a', 24), 'main', now(), '{}', 0)
                """)
            let vault = Vault([try Self.key()])
            let lacking = await database.store("lacking", vault: vault, features: [])
            let whole = await database.store("whole", vault: vault)
            try await lacking.encryption.openVault()
            for direction in [EncryptionRun.Direction.seal, .open] {
                let before = try await database.picture(of: "encryption")
                await #expect(throws: VaultError.unknownRows(["1 of billing_customers"])) {
                    try await Self.run(lacking, direction)
                }
                #expect(try await database.picture(of: "encryption") == before, "nothing was begun")
                #expect(try await Self.run(whole, direction) == 1)
            }
        }
    }

    @Test func everythingIsSealedAndComesBackAsItWas() async throws {
        try await withStore { database, store in
            let acceptances = try Self.acceptances()
            for one in acceptances { try await store.take(one) }
            try await store.takeAndGrantAll()
            try await store.audit.add(
                AuditEntry(actor: "ops", .customerErased, "sealed1:target", of: nil, reason: "sealed0:why"))
            _ = try await store.events.receive(
                topic: "t", body: BytesThatLookSealed.all[5], now: try #require(store.memory.clock.now))
            let before = try await Self.picture(database)

            let sealing = await database.store("sealing", vault: Vault([try Self.key()]))
            try await store.encryption.openVault()
            let changed = try await Self.run(sealing, .seal)
            for table in PrivateColumns.all {
                #expect(try await database.count(table.table, where: "sealed_by IS DISTINCT FROM 1") == 0)
            }
            #expect(changed == before.count)
            try await Self.expectAll(acceptances, in: sealing)
            let log = try await sealing.audit.list(matching: AuditFilter(limit: 10)).items
            #expect(log.map(\.target.value) == ["sealed1:target"] && log.map(\.reason?.value) == ["sealed0:why"])
            #expect(try await Self.run(sealing, .seal) == 0, "again is no harm")

            #expect(try await Self.run(sealing, .open) == before.count)
            #expect(try await Self.picture(database) == before)
            try await Self.expectAll(acceptances, in: store)
        }
    }

    @Test func rowsOfEveryDataKeyAreOpened() async throws {
        try await withStore { database, _ in
            let store = await database.store("sealed", vault: Vault([try Self.key()]))
            try await store.encryption.openVault()
            try await store.readClock()
            let (old, new) = (try Self.acceptances("1"), try Self.acceptances("2"))
            for one in old { try await store.take(one) }
            _ = try await store.encryption.rotateKeys(addsKey: true)
            for one in new { try await store.take(one) }
            #expect(try await database.count("receipts", where: "sealed_by = 1") == old.count)
            #expect(try await database.count("receipts", where: "sealed_by = 2") == new.count)
            #expect(try await database.count("validations", where: "sealed_by = 1") == old.count + new.count)
            try await Self.expectAll(old + new, in: store)
            _ = try await Self.run(store, .open)
            try await Self.expectAll(old + new, in: store)
            #expect(try await database.count("receipts", where: "sealed_by IS DISTINCT FROM 0") == 0)
        }
    }

    @Test func aRowThatIsLeftIsSaidAndTheDatabaseIsNotTakenForSealed() async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            try await store.encryption.openVault()
            // A row in an unknown bucket is in no page.
            try await database.run("UPDATE receipts SET bucket = 300")
            let sealing = await database.store("sealing", vault: Vault([try Self.key()]))
            await #expect(throws: VaultError.rowsLeft(["1 of receipts"], "enable")) {
                _ = try await Self.run(sealing, .seal)
            }
            #expect(try await sealing.encryption.state() == .beingSealed)
            try await database.run("UPDATE receipts SET bucket = 0")
            #expect(try await Self.run(sealing, .seal) == 1)
            #expect(try await sealing.encryption.state() == .sealed)
        }
    }

    @Test func aRowThatCannotBeOpenedIsNamedWithoutItsCustomer() async throws {
        try await withStore { database, _ in
            let store = await database.store("sealed", vault: Vault([try Self.key()]))
            try await store.encryption.openVault()
            try await store.readClock()
            let id = try await store.take(.sample())
            try await database.run("UPDATE receipts SET body = substring(body FROM 1 FOR 20)")
            do {
                _ = try await Self.run(store, .open)
                Issue.record("it was opened")
            } catch let error as VaultError {
                #expect(
                    "\(error)".contains("receipts: accepted_on ")
                        && "\(error)".contains(id.uuid.uuidString.lowercased()))
            }
            #expect(try await store.encryption.state() == .beingOpened)
        }
    }
}

extension RelayStore {
    fileprivate func takeAndGrantAll() async throws {
        for claimed in try await purchases.claimDue() { try await write(claimed.granted()) }
    }
}
