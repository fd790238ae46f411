import Foundation
import Postgres
import RelayCore
import TestRun
import Testing

@testable import Relay

/// Rows of the previous version, which recognized sealed values by their marks.
@Suite struct SealedByUpgradeTests {
    /// Restores the schema of that version; the values have the same form.
    private static func takeBack(_ database: TestDatabase) async throws {
        // Tables of a later version were created with the column.
        for table in PrivateColumns.all where !table.table.hasPrefix("consumption_") {
            try await database.run("ALTER TABLE \(table.table) DROP COLUMN sealed_by")
        }
        try await database.run("DELETE FROM schema_migrations WHERE name = '0019_sealed_by'")
    }

    private static func upgraded(_ database: TestDatabase, _ name: String, vault: Vault) async throws -> RelayStore {
        let store = await database.store(name, vault: vault)
        try await store.schema.migrate()
        try await store.encryption.openVault()
        try await store.readClock()
        return store
    }

    @Test func ofAPlainDatabaseEverythingIsReadAsItWasWritten() async throws {
        try await withStore { database, old in
            let acceptances = try EncryptionRunTests.acceptances("1")
            for one in acceptances { try await old.take(one) }
            let stored = try await database.column("SELECT DISTINCT email FROM validations ORDER BY 1", as: String.self)
            #expect(
                stored.sorted() == [
                    "ana@example.test", "sealed0:sealed.bid@example.test", "sealed0:sealed0:sealed1@example.test",
                    "sealed0:sealed1:ana@example.test",
                ], "as that version wrote them")
            try await old.encryption.openVault()
            try await Self.takeBack(database)

            let store = try await Self.upgraded(database, "new", vault: Vault())
            try await EncryptionRunTests.expectAll(acceptances, in: store)
            #expect(try await database.count("receipts", where: "sealed_by IS NULL") == acceptances.count)
            // New rows of the same customers are found with the old ones.
            let more = try EncryptionRunTests.acceptances("2")
            for one in more { try await store.take(one) }
            #expect(try await database.count("receipts", where: "sealed_by = 0") == more.count)
            try await EncryptionRunTests.expectAll(acceptances + more, in: store)
            #expect(try await store.purchases.claimDue().count == acceptances.count + more.count)

            let bodies = try await database.column("SELECT body FROM receipts ORDER BY id", as: [UInt8].self)
            let sealing = await database.store("sealing", vault: Vault([try EncryptionRunTests.key()]))
            _ = try await EncryptionRunTests.run(sealing, .seal)
            #expect(try await database.count("receipts", where: "sealed_by IS DISTINCT FROM 1") == 0)
            try await EncryptionRunTests.expectAll(acceptances + more, in: sealing)
            _ = try await EncryptionRunTests.run(sealing, .open)
            #expect(try await database.column("SELECT body FROM receipts ORDER BY id", as: [UInt8].self) == bodies)
            try await EncryptionRunTests.expectAll(acceptances + more, in: store)
        }
    }

    @Test func ofASealedDatabaseWhatWasLeftInTheClearIsReadAndThenSealed() async throws {
        try await withStore { database, _ in
            let key = try EncryptionRunTests.key()
            let old = await database.store("old", vault: Vault([key]))
            try await old.encryption.openVault()
            try await old.readClock()
            let sealed = try EncryptionRunTests.acceptances("1")
            for one in sealed { try await old.take(one) }
            _ = try await old.encryption.rotateKeys(addsKey: true)
            // Values that looked sealed when that version's `encryption enable` read them are unchanged.
            let left = Array(try EncryptionRunTests.acceptances("2").dropLast())
            for one in left {
                try await old.take(one)
                try await database.run(
                    "UPDATE receipts SET body = $2 WHERE id = $1", .uuid(one.id.uuid), .bytea(one.receipt.bytes.value))
            }
            try await Self.takeBack(database)

            let store = try await Self.upgraded(database, "new", vault: Vault([key]))
            for one in left {
                do {
                    _ = try await store.purchases.purchase(one.id, by: .receipt)
                } catch let error as PostgresError where error.code == .locked {
                    // The value might be from a new key; after the keys are read again, it is known not to be.
                    #expect(store.memory.vault.needsLook)
                    try await store.encryption.openVault()
                }
            }
            try await EncryptionRunTests.expectAll(sealed + left, in: store)

            let fresh = await database.store("fresh", vault: Vault([key]))
            _ = try await EncryptionRunTests.run(fresh, .seal)
            #expect(try await database.count("receipts", where: "sealed_by IS DISTINCT FROM 2") == 0)
            #expect(try await database.count("validations", where: "sealed_by IS DISTINCT FROM 1") == 0)
            try await EncryptionRunTests.expectAll(sealed + left, in: fresh)
            _ = try await EncryptionRunTests.run(fresh, .open)
            for one in sealed + left {
                let body = try await database.value(
                    "SELECT body FROM receipts WHERE id = $1", .uuid(one.id.uuid), as: [UInt8].self)
                #expect(body == one.receipt.bytes.value)
            }
        }
    }

    @Test(arguments: TestRun.all([EncryptionRun.Direction.seal, .open], otherwise: 1))
    func oneThatWasBrokenOffInTheMiddleIsBroughtToItsEnd(direction: EncryptionRun.Direction) async throws {
        try await withStore { database, _ in
            let key = try EncryptionRunTests.key()
            let old = await database.store("old", vault: Vault([key]))
            try await old.encryption.openVault()
            try await old.readClock()
            let acceptances = try EncryptionRunTests.acceptances()
            for one in acceptances { try await old.take(one) }
            // Half of it is sealed.
            for one in acceptances.dropFirst(acceptances.count / 2) {
                let plain = Seal(keys: nil)
                func text(_ text: String) throws -> PostgresValue {
                    .text(String(decoding: try plain.seal(text: Array(text.utf8)), as: UTF8.self))
                }
                try await database.run(
                    "UPDATE validations SET email = $2, customer = $3, application_username = $3, ip_address = $4 WHERE id = $1",
                    .uuid(one.id.uuid), try text(one.email.sent.text), try text(one.email.customer.text),
                    try text(one.ipAddress?.value ?? ""))
                try await database.run(
                    "UPDATE receipts SET body = $2 WHERE id = $1", .uuid(one.id.uuid), .bytea(one.receipt.bytes.value))
            }
            try await database.run("UPDATE encryption SET state = \(direction == .seal ? 2 : 3)")
            try await Self.takeBack(database)

            let store = await database.store("new", vault: Vault([key]))
            try await store.schema.migrate()
            await #expect(throws: VaultError.underWay(direction == .seal ? "enable" : "disable")) {
                try await store.encryption.openVault()
            }
            _ = try await EncryptionRunTests.run(store, direction)
            try await EncryptionRunTests.expectAll(acceptances, in: store)
        }
    }
}
