import Crypto
import Foundation
import Postgres
import Testing

@testable import Relay

/// Private values, and whether they can be read.
@Suite struct VaultTests {
    private static func sealed(_ numbers: Int32...) throws -> Vault {
        let vault = Vault()
        vault.state = .sealed(
            try #require(
                VaultKeys(
                    Dictionary(
                        uniqueKeysWithValues: numbers.map {
                            ($0, .init(data: [UInt8](repeating: UInt8($0), count: 32)))
                        }))))
        return vault
    }

    private func opened(_ vault: Vault, _ text: [UInt8], by key: Int32?) throws -> String {
        String(decoding: try text.withUnsafeBytes { try vault.open(text: $0, sealedBy: key) }, as: UTF8.self)
    }

    private func open(_ vault: Vault, _ bytes: [UInt8], by key: Int32?) throws -> [UInt8] {
        try bytes.withUnsafeBytes { try vault.open(bytes: $0, sealedBy: key) }
    }

    @Test(arguments: [
        "ana@example.test", "", "a", "ab", "abc", "sealed", "sealed.bid@example.test", "sealed1:abc", "sealed1:",
        "sealed0:sealed1:x", "🧑🏽‍🚀 / % '\"\\ ", String(repeating: "𝕏", count: 512),
    ])
    func aNameIsSealedAlikeEachTimeAndOpenedAgain(name: String) throws {
        let vault = try Self.sealed(1)
        let seal = try vault.seal()
        let sealed = try seal.seal(text: Array(name.utf8))
        #expect(try vault.seal().seal(text: Array(name.utf8)) == sealed)
        #expect(seal.textKey == 1)
        #expect(String(validating: sealed, as: UTF8.self)?.hasPrefix("sealed1:") == true)
        #expect(name.isEmpty || !String(decoding: sealed.dropFirst(8), as: UTF8.self).contains(name))
        #expect(try opened(vault, sealed, by: 1) == name)
        #expect(try opened(vault, sealed, by: nil) == name, "sealed by the version before")
        // An index entry holds 2,704 bytes at most; the longest publisher id and the row's other columns must fit too.
        #expect(sealed.count <= 2_610)
        let plain = Vault.plain()
        let stored = try plain.seal().seal(text: Array(name.utf8))
        #expect(try plain.seal().textKey == 0)
        #expect(name.hasPrefix("sealed") || stored == Array(name.utf8))
        for vault in [plain, vault] {
            #expect(try opened(vault, stored, by: 0) == name)
            #expect(try opened(vault, stored, by: nil) == name, "what was there before the key")
        }
    }

    @Test func aNameThatIsASealedOneOfAnotherIsReadAsItself() throws {
        let vault = try Self.sealed(1)
        let other = String(decoding: try vault.seal().seal(text: Array("ana@example.test".utf8)), as: UTF8.self)
        let stored = try Vault.plain().seal().seal(text: Array(other.utf8))
        #expect(try opened(vault, stored, by: 0) == other && opened(.plain(), stored, by: 0) == other)
        let sealed = try vault.seal().seal(text: Array(other.utf8))
        #expect(try opened(vault, sealed, by: 1) == other)
    }

    @Test func whatWasSealedIsNotReadWithoutItsKey() throws {
        let sealed = try Self.sealed(1).seal().seal(text: Array("ana@example.test".utf8))
        let plain = Vault.plain()
        #expect { try opened(plain, sealed, by: 1) } throws: { ($0 as? PostgresError)?.code == .locked }
        #expect(plain.needsLook, "whether the database is sealed is looked for")
        #expect { try opened(Vault(), sealed, by: 1) } throws: { ($0 as? PostgresError)?.code == .locked }
        let other = Vault()
        other.state = .sealed(try #require(VaultKeys([1: .init(data: [UInt8](repeating: 9, count: 32))])))
        #expect { try opened(other, sealed, by: 1) } throws: { ($0 as? PostgresError)?.code == .decoding }
        #expect { try Vault().seal() } throws: { ($0 as? PostgresError)?.code == .locked }
        for index in sealed.indices {
            var broken = sealed
            broken[index] = broken[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
            #expect(throws: PostgresError.self) { try opened(try Self.sealed(1), broken, by: 1) }
        }
    }

    @Test func bytesAreSealedByTheNewestKeyAndOpenedByAny() throws {
        let (old, new) = (try Self.sealed(1), try Self.sealed(1, 2))
        let bytes = Array("a receipt".utf8)
        let first = try old.seal().seal(bytes: bytes)
        let second = try new.seal().seal(bytes: bytes)
        #expect(try old.seal().byteKey == 1 && new.seal().byteKey == 2)
        #expect(try first != old.seal().seal(bytes: bytes), "equal ones look different")
        #expect(try open(new, first, by: 1) == bytes && open(new, second, by: 2) == bytes)
        #expect(try open(new, first, by: nil) == bytes && open(new, second, by: nil) == bytes)
        #expect(!old.needsLook)
        #expect { try open(old, second, by: 2) } throws: { ($0 as? PostgresError)?.code == .locked }
        #expect(old.needsLook, "the key that it does not know is looked for")
        #expect { try open(.plain(), first, by: 1) } throws: { ($0 as? PostgresError)?.code == .locked }
        #expect { try open(new, first, by: 2) } throws: { ($0 as? PostgresError)?.code == .decoding }
        for broken in [Array(first.dropLast()), Array(first.prefix(11)), [], bytes] {
            #expect { try open(old, broken, by: 1) } throws: { ($0 as? PostgresError)?.code == .decoding }
        }
    }

    @Test(arguments: BytesThatLookSealed.all)
    func bytesThatLookSealedAreWhatTheirRowSays(bytes: [UInt8]) throws {
        for vault in [Vault.plain(), try Self.sealed(1, 2)] {
            #expect(try open(vault, bytes, by: 0) == bytes)
            let seal = try vault.seal()
            #expect(try open(vault, seal.seal(bytes: bytes), by: seal.byteKey) == bytes)
            #expect(!vault.needsLook)
        }
        // Even values that the key opens.
        let vault = try Self.sealed(1)
        let sealed = try vault.seal().seal(bytes: bytes)
        #expect(try open(vault, sealed, by: 0) == sealed)
    }

    @Test(arguments: BytesThatLookSealed.all)
    func bytesOfARowThatDoesNotSayAreOpenedWhereAKeyHasSealedThem(bytes: [UInt8]) throws {
        let vault = try Self.sealed(1)
        #expect(try open(.plain(), bytes, by: nil) == bytes)
        #expect(try open(vault, vault.seal().seal(bytes: bytes), by: nil) == bytes)
        do {
            #expect(try open(vault, bytes, by: nil) == bytes, "as `encryption enable` left it")
        } catch let error as PostgresError where error.code == .locked {
            // No known key has this number. After the keys are read again, it is known that none ever had it.
            #expect(vault.needsLook)
            vault.state = try Self.sealed(1).state
            #expect(try open(vault, bytes, by: nil) == bytes)
            #expect(!vault.needsLook)
        }
    }

    @Test func everyLengthGoesThroughBase85AndBack() {
        var generator = SystemRandomNumberGenerator()
        for length in 0..<70 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base85.decode(Base85.encode(bytes)) == bytes)
            #expect(
                Base85.decode(Base85.encode([UInt8](repeating: 255, count: length)))
                    == [UInt8](repeating: 255, count: length))
        }
        for rubbish in ["a", "abcdea", "ab\u{1}de", "'''''", "#####"] {
            #expect(Base85.decode(Array(rubbish.utf8)) == nil, "\(rubbish)")
        }
    }

    @Test func aWrappedKeyIsOpenedByItsOwnKeyAndForItsOwnNumberAlone() throws {
        let wrapping = try #require(WrappingKey(base64: WrappingKey.make()))
        let wrapped = try wrapping.wrap(.init(size: .bits256), number: 1)
        _ = try wrapping.unwrap(wrapped, number: 1)
        #expect(throws: (any Error).self) { try wrapping.unwrap(wrapped, number: 2) }
        let other = try #require(WrappingKey(base64: WrappingKey.make()))
        #expect(other.id != wrapping.id && wrapping.id.wholeMatch(of: /[0-9a-f]{8}/) != nil)
        #expect(throws: (any Error).self) { try other.unwrap(wrapped, number: 1) }
        for text in ["", "abc", Data(count: 31).base64EncodedString(), Data(count: 33).base64EncodedString()] {
            #expect(WrappingKey(base64: text) == nil)
        }
    }

    // MARK: The database

    private func key() throws -> WrappingKey { try #require(WrappingKey(base64: WrappingKey.make())) }

    @Test func anEmptyDatabaseIsDecidedByWhoComesFirst() async throws {
        try await withStore { database, first in
            #expect(try await first.encryption.state() == nil)
            let key = try key()
            let sealed = await database.store("sealed", vault: Vault([key]))
            try await sealed.encryption.openVault()
            let again = await database.store("again", vault: Vault([key]))
            try await again.encryption.openVault()
            #expect(try await sealed.encryption.dataKeys().map(\.wrappedBy) == [key.id])
            let name = Array("ana".utf8)
            #expect(try sealed.memory.vault.seal().seal(text: name) == again.memory.vault.seal().seal(text: name))
            let without = await database.store("without", vault: Vault())
            await #expect(throws: VaultError.noKey) { try await without.encryption.openVault() }
            let wrong = await database.store("wrong", vault: Vault([try self.key()]))
            await #expect(throws: VaultError.wrongKey(wanted: key.id)) { try await wrong.encryption.openVault() }
        }
        try await withStore { database, _ in
            let plain = await database.store("plain", vault: Vault())
            // A command leaves the decision to the copies.
            try await plain.encryption.openVault(decides: false)
            #expect(try await plain.encryption.state() == nil)
            try await plain.encryption.openVault()
            #expect(try await plain.encryption.state() == .plain)
            let sealed = await database.store("sealed", vault: Vault([try key()]))
            await #expect(throws: VaultError.databaseIsPlain) { try await sealed.encryption.openVault() }
        }
    }

    @Test func whatIsThereIsNotSealedByTheWay() async throws {
        try await withStore { database, store in
            try await store.webhooks.ensureFirstPublisher()
            _ = try await store.accept(try .sample())
            let sealed = await database.store("sealed", vault: Vault([try key()]))
            await #expect(throws: VaultError.databaseIsPlain) { try await sealed.encryption.openVault() }
            #expect(try await sealed.encryption.state() == nil)
        }
    }

    @Test func keysAreWrappedAnewAndAddedWhileCopiesRun() async throws {
        try await withStore { database, _ in
            let (old, new) = (try key(), try key())
            let running = await database.store("running", vault: Vault([old]))
            try await running.encryption.openVault()
            let before = try running.memory.vault.seal().seal(bytes: [1, 2, 3])
            let rotating = await database.store("rotating", vault: Vault([new, old]))
            try await rotating.encryption.openVault()
            #expect(try await rotating.encryption.rotateKeys(addsKey: true) == 1)
            #expect(try await rotating.encryption.rotateKeys(addsKey: false) == 0)
            #expect(try await rotating.encryption.dataKeys().map(\.wrappedBy) == [new.id, new.id])
            let next = await database.store("next", vault: Vault([new]))
            try await next.encryption.openVault()
            #expect(try open(next.memory.vault, before, by: 1) == [1, 2, 3])
            #expect(
                try next.memory.vault.seal().seal(text: [65]) == running.memory.vault.seal().seal(text: [65]),
                "names stay as they are")
            let after = try next.memory.vault.seal().seal(bytes: [4])
            #expect(try next.memory.vault.seal().byteKey == 2)
            #expect { try open(running.memory.vault, after, by: 2) } throws: { ($0 as? PostgresError)?.code == .locked }
            await #expect(throws: VaultError.wrongKey(wanted: new.id)) { try await running.encryption.openVault() }
        }
    }
}
