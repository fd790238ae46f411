import Crypto
import Foundation
import Postgres
import Testing

@testable import RelayStore

/// What is private, and whether it can be read.
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

    private func opened(_ vault: Vault, _ text: [UInt8]) throws -> String {
        String(decoding: try text.withUnsafeBytes { try vault.open(text: $0) }, as: UTF8.self)
    }

    @Test(arguments: [
        "ana@example.test", "", "a", "ab", "abc", "sealed", "sealed1:abc", "sealed0:sealed1:x", "🧑🏽‍🚀 / % '\"\\ ",
        String(repeating: "𝕏", count: 512),
    ])
    func aNameIsSealedAlikeEachTimeAndOpenedAgain(name: String) throws {
        let vault = try Self.sealed(1)
        let sealed = try vault.seal(text: Array(name.utf8))
        #expect(try vault.seal(text: Array(name.utf8)) == sealed)
        #expect(String(validating: sealed, as: UTF8.self)?.hasPrefix("sealed1:") == true)
        #expect(name.isEmpty || !String(decoding: sealed.dropFirst(8), as: UTF8.self).contains(name))
        #expect(try opened(vault, sealed) == name)
        // An index takes 2,704 bytes; the longest publisher's id and what else stands in its rows have to fit too.
        #expect(sealed.count <= 2_610)
        // Without a key it stays as it is, and never passes for a sealed one.
        let plain = Vault.plain()
        let stored = try plain.seal(text: Array(name.utf8))
        #expect(name.hasPrefix("sealed") || stored == Array(name.utf8))
        #expect(try opened(plain, stored) == name)
        #expect(try opened(vault, stored) == name, "what was there before the key")
    }

    @Test func whatWasSealedIsNotReadWithoutItsKey() throws {
        let sealed = try Self.sealed(1).seal(text: Array("ana@example.test".utf8))
        #expect { try opened(.plain(), sealed) } throws: { ($0 as? PostgresError)?.code == .locked }
        #expect { try opened(Vault(), sealed) } throws: { ($0 as? PostgresError)?.code == .locked }
        let other = Vault()
        other.state = .sealed(try #require(VaultKeys([1: .init(data: [UInt8](repeating: 9, count: 32))])))
        #expect { try opened(other, sealed) } throws: { ($0 as? PostgresError)?.code == .decoding }
        #expect { try Vault().seal(text: [1]) } throws: { ($0 as? PostgresError)?.code == .locked }
        for index in sealed.indices.dropFirst(8) {
            var broken = sealed
            broken[index] = broken[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
            #expect(throws: PostgresError.self) { try opened(try Self.sealed(1), broken) }
        }
    }

    @Test func bytesAreSealedByTheNewestKeyAndOpenedByAny() throws {
        let (old, new) = (try Self.sealed(1), try Self.sealed(1, 2))
        let bytes = Array("a receipt".utf8)
        func open(_ vault: Vault, _ sealed: [UInt8]) throws -> [UInt8] {
            try sealed.withUnsafeBytes { try vault.open(bytes: $0) }
        }
        let first = try old.seal(bytes: bytes)
        let second = try new.seal(bytes: bytes)
        #expect(try first != old.seal(bytes: bytes), "equal ones look different")
        #expect(try open(new, first) == bytes && open(new, second) == bytes && open(old, first) == bytes)
        #expect(!old.needsLook)
        #expect { try open(old, second) } throws: { ($0 as? PostgresError)?.code == .locked }
        #expect(old.needsLook, "the key that it does not know is looked for")
        #expect { try open(.plain(), first) } throws: { ($0 as? PostgresError)?.code == .locked }
        #expect(try open(old, bytes) == bytes, "what was there before the key")
        #expect(try open(old, []) == [])
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
            #expect(try await first.encryptionState() == nil)
            let key = try key()
            let sealed = await database.store("sealed", vault: Vault([key]))
            try await sealed.openVault()
            let again = await database.store("again", vault: Vault([key]))
            try await again.openVault()
            #expect(try await sealed.dataKeys().map(\.wrappedBy) == [key.id])
            let name = Array("ana".utf8)
            #expect(try sealed.vault.seal(text: name) == again.vault.seal(text: name))
            let without = await database.store("without", vault: Vault())
            await #expect(throws: VaultError.noKey) { try await without.openVault() }
            let wrong = await database.store("wrong", vault: Vault([try self.key()]))
            await #expect(throws: VaultError.wrongKey(wanted: key.id)) { try await wrong.openVault() }
        }
        try await withStore { database, _ in
            let plain = await database.store("plain", vault: Vault())
            // A command leaves it to the copies.
            try await plain.openVault(decides: false)
            #expect(try await plain.encryptionState() == nil)
            try await plain.openVault()
            #expect(try await plain.encryptionState() == .plain)
            let sealed = await database.store("sealed", vault: Vault([try key()]))
            await #expect(throws: VaultError.databaseIsPlain) { try await sealed.openVault() }
        }
    }

    @Test func whatIsThereIsNotSealedByTheWay() async throws {
        try await withStore { database, store in
            try await store.ensureFirstPublisher()
            _ = try await store.accept(try .sample())
            let sealed = await database.store("sealed", vault: Vault([try key()]))
            await #expect(throws: VaultError.databaseIsPlain) { try await sealed.openVault() }
            #expect(try await sealed.encryptionState() == nil)
        }
    }

    @Test func keysAreWrappedAnewAndAddedWhileCopiesRun() async throws {
        try await withStore { database, _ in
            let (old, new) = (try key(), try key())
            let running = await database.store("running", vault: Vault([old]))
            try await running.openVault()
            let before = try running.vault.seal(bytes: [1, 2, 3])
            let rotating = await database.store("rotating", vault: Vault([new, old]))
            try await rotating.openVault()
            #expect(try await rotating.rotateKeys(addsKey: true) == 1)
            #expect(try await rotating.rotateKeys(addsKey: false) == 0)
            #expect(try await rotating.dataKeys().map(\.wrappedBy) == [new.id, new.id])
            let next = await database.store("next", vault: Vault([new]))
            try await next.openVault()
            #expect(try before.withUnsafeBytes { try next.vault.open(bytes: $0) } == [1, 2, 3])
            #expect(try next.vault.seal(text: [65]) == running.vault.seal(text: [65]), "names stay as they are")
            let after = try next.vault.seal(bytes: [4])
            #expect { try after.withUnsafeBytes { try running.vault.open(bytes: $0) } } throws: {
                ($0 as? PostgresError)?.code == .locked
            }
            await #expect(throws: VaultError.wrongKey(wanted: new.id)) { try await running.openVault() }
        }
    }
}
