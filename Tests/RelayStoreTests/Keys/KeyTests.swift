import Foundation
import NIOConcurrencyHelpers
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("API keys")
struct KeyTests {
    private func make(
        _ store: RelayStore, role: KeyRole = .app, name: String = "tv", publisher: String = "main", app: String = ""
    ) async throws -> String {
        var generator = SystemRandomNumberGenerator()
        return try await store.keys.create(
            role: role, name: name, publisher: PublisherID(publisher), app: BundleID(app), using: &generator)
    }

    private func id(_ key: String) throws -> String {
        try #require(APIKey.parse(Substring(key))).id.text
    }

    @Test("give the access of their role", arguments: KeyRole.allCases)
    func authenticate(role: KeyRole) async throws {
        try await withStore { database, store in
            let text = try await make(store, role: role, name: "n", publisher: "fox", app: "com.example.tv")
            let key = try #require(try await KeyRing(store: store).authenticate(text))
            #expect(key.role == role)
            #expect(key.publisher == "fox")
            #expect(key.app == "com.example.tv")
            #expect(key.name == "n")
            #expect(text.hasPrefix("rr_\(role.name)_\(key.id)_"))
        }
    }

    @Test("are stored as digests only")
    func digests() async throws {
        try await withStore { database, store in
            let text = try await make(store)
            let secret = try #require(text.split(separator: "_").last)
            #expect(try await database.picture(of: "api_keys").allSatisfy { !$0.contains(secret) })
            #expect(
                try await database.value("SELECT digest FROM api_keys", as: [UInt8].self) == APIKey.digest(of: text))
        }
    }

    @Test("create a new publisher, and use a known one")
    func publisher() async throws {
        try await withStore { database, store in
            for publisher in ["main", "fox", "main"] { _ = try await make(store, publisher: publisher) }
            #expect(
                try await database.column("SELECT id FROM publishers ORDER BY 1", as: String.self) == ["fox", "main"])
        }
    }

    @Test(
        "of an invalid publisher name are refused, and nothing is stored",
        arguments: ["", "Main", "a b", "-a"])
    func publisherName(name: String) async throws {
        try await withStore { database, store in
            let error = await postgresError { try await make(store, publisher: name) }
            #expect(error?.sqlState == "23514")
            let left = try await database.value(
                "SELECT (SELECT count(*) FROM publishers) + (SELECT count(*) FROM api_keys)", as: Int.self)
            #expect(left == 0)
        }
    }

    @Test("with another secret, another role's name or an unknown id give no access")
    func wrong() async throws {
        try await withStore { database, store in
            let text = try await make(store)
            let ring = KeyRing(store: store)
            let last: Character = text.hasSuffix("0") ? "1" : "0"
            #expect(try await ring.authenticate(text.dropLast() + String(last)) == nil)
            #expect(
                try await ring.authenticate(text.replacingOccurrences(of: "rr_app", with: "rr_ops-operator")) == nil)
            let unknown = "rr_app_\(String(repeating: "0", count: 16))_\(String(repeating: "0", count: 64))"
            #expect(try await ring.authenticate(unknown) == nil)
            #expect(try await ring.authenticate(text) != nil)
        }
    }

    @Test(
        "that are malformed cause no query",
        arguments: [
            "", "rr", "rr___", "rr_app_0_0", "rr_app_0123456789abcdef_", String(repeating: "_", count: 128),
            "rr_app_0123456789abcdef_\(String(repeating: "0", count: 64))_x", String(repeating: "x", count: 100_000),
            "sk_app_0123456789abcdef_\(String(repeating: "0", count: 64))", "\0\u{1F600}",
        ])
    func malformed(text: String) async throws {
        // The pool does not run, so a query would fail.
        let pool = PostgresPool(PostgresConfiguration(connectionString: "host=127.0.0.1 port=1"), logger: .silent)
        let store = RelayStore(pool: pool, vault: .plain(), instance: "none", logger: .silent)
        #expect(try await KeyRing(store: store).authenticate(text) == nil)
    }

    @Test("open nothing before the publishers' own accounts are known")
    func accounts() async throws {
        try await withStore { _, store in
            let text = try await make(store)
            #expect(store.memory.accounts.hasOwn("main"))
            #expect(try await KeyRing(store: store).authenticate(text) != nil)
            #expect(!store.memory.accounts.hasOwn("main"))
        }
    }

    @Test("that were made a moment ago work at once, also for many concurrent requests")
    func fresh() async throws {
        try await withStores(2) { database, stores in
            let ring = KeyRing(store: stores[0])
            try await ring.load()
            for _ in 0..<3 {
                let text = try await make(stores[1])
                let opened = try await withThrowingTaskGroup { group in
                    for _ in 0..<20 { group.addTask { try await ring.authenticate(text) != nil } }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(opened == 20)
            }
        }
    }

    @Test("that are made later are found at the next look, which also removes revoked ones")
    func looks() async throws {
        try await withStores(2) { database, stores in
            let ring = KeyRing(store: stores[0])
            let first = try await make(stores[1])
            #expect(try await ring.authenticate(first) != nil)
            let second = try await make(stores[1])
            try await ring.load()
            #expect(try await ring.authenticate(second) != nil)
            #expect(try await stores[1].keys.revoke(try APIKeyID(id(first))))
            // The key is still in the cache.
            #expect(try await ring.authenticate(first) != nil)
            try await ring.load()
            #expect(try await ring.authenticate(first) == nil)
            #expect(try await ring.authenticate(second) != nil)
        }
    }

    @Test("that do not fit into memory also work, until they are revoked")
    func beyondTheNewest() async throws {
        try await withStore { database, store in
            var keys: [String] = []
            for number in 0..<6 { keys.append(try await make(store, name: "\(number)")) }
            let ring = KeyRing(store: store, mostNewest: 2) { .now }
            try await ring.load()
            #expect(ring.known(Substring(keys[0])) == nil && ring.known(Substring(keys[5])) != nil)
            for key in keys { #expect(try await ring.authenticate(key) != nil) }
            // A key in use stays in the cache.
            #expect(try await ring.authenticate(keys[0]) != nil)
            try await ring.load()
            #expect(ring.known(Substring(keys[0])) != nil)
            let last: Character = keys[0].hasSuffix("0") ? "1" : "0"
            #expect(try await ring.authenticate(keys[0].dropLast() + String(last)) == nil)
            #expect(try await store.keys.revoke(try APIKeyID(id(keys[0]))))
            try await ring.load()
            #expect(try await ring.authenticate(keys[0]) == nil)
        }
    }

    @Test("that are revoked use no place in memory")
    func revokedTakeNoPlace() async throws {
        try await withStore { database, store in
            let first = try await make(store)
            for _ in 0..<3 { #expect(try await store.keys.revoke(try APIKeyID(id(try await make(store))))) }
            let ring = KeyRing(store: store, mostNewest: 2) { .now }
            try await ring.load()
            #expect(ring.known(Substring(first)) != nil)
        }
    }

    @Test("whose ids are not hex digits cause no query")
    func strangeID() async throws {
        try await withStore { database, store in
            let key = try await make(store)
            let ring = KeyRing(store: store, mostNewest: 1) { .now }
            for id in ["0123456789abcde\0", "0123456789ABCDEF", "\u{1F600}0123456789ab"] {
                #expect(try await ring.authenticate("rr_app_\(id)_\(String(repeating: "0", count: 64))") == nil)
            }
            #expect(try await ring.authenticate(key) != nil)
        }
    }

    @Test("are listed in order of creation, revoked ones on request")
    func list() async throws {
        try await withStore { database, store in
            let keys = [
                try await make(store, name: "a"), try await make(store, name: "b"), try await make(store, name: "c"),
            ]
            #expect(try await store.keys.list(includingRevoked: false).map(\.name) == ["a", "b", "c"])
            #expect(try await store.keys.revoke(try APIKeyID(id(keys[1]))))
            #expect(try await store.keys.list(includingRevoked: false).map(\.name) == ["a", "c"])
            let all = try await store.keys.list(includingRevoked: true)
            #expect(all.map { $0.revokedAt != nil } == [false, true, false])
            // A second revocation does not change the first.
            #expect(try await !store.keys.revoke(try APIKeyID(id(keys[1]))))
            #expect(try await store.keys.list(includingRevoked: true) == all)
            #expect(try await store.keys.revoke("0000000000000000") == false)
        }
    }

    @Test("of an unknown newer role give no access, and do not affect other keys")
    func strangeRole() async throws {
        try await withStore { database, store in
            let (text, strange) = (try await make(store), try await make(store))
            try await database.run("ALTER TABLE api_keys DROP CONSTRAINT api_keys_role_check")
            try await database.run("UPDATE api_keys SET role = 99 WHERE id = $1", .text(try id(strange)))
            let ring = KeyRing(store: store)
            #expect(try await ring.authenticate(text) != nil)
            #expect(try await ring.authenticate(strange) == nil)
        }
    }

    @Test("that do not fit into memory are not called wrong while the database is away")
    func beyondTheNewestWithoutADatabase() async throws {
        try await withStore { database, store in
            var keys: [String] = []
            for number in 0..<4 { keys.append(try await make(store, name: "\(number)")) }
            let ring = KeyRing(store: store, mostNewest: 2) { .now }
            try await ring.load()
            try await database.run("ALTER TABLE api_keys RENAME TO away")
            #expect(try await ring.authenticate(keys[3]) != nil)
            #expect(await postgresError { try await ring.authenticate(keys[0]) }?.sqlState == "42P01")
        }
    }

    @Test("that are known still work for a minute without the database")
    func databaseAway() async throws {
        try await withStore { database, store in
            let start = ContinuousClock.now
            let passed = NIOLockedValueBox(Duration.zero)
            let ring = KeyRing(store: store) { start + passed.withLockedValue { $0 } }
            let text = try await make(store)
            #expect(try await ring.authenticate(text) != nil)
            try await database.run("ALTER TABLE api_keys RENAME TO away")
            let error = await postgresError { try await ring.load() }
            #expect(error?.sqlState == "42P01")
            passed.withLockedValue { $0 = .seconds(59) }
            #expect(try await ring.authenticate(text) != nil)
            // Whether the key was revoked since is unknown, which must not count as an invalid key.
            passed.withLockedValue { $0 = .seconds(60) }
            let old = await postgresError { try await ring.authenticate(text) }
            #expect(old?.sqlState == "42P01")
            #expect(ring.known(Substring(text)) == nil)
            let fresh = KeyRing(store: store)
            let unread = await postgresError { try await fresh.authenticate(text) }
            #expect(unread != nil)
        }
    }
}

extension KeyRing {
    func authenticate(_ text: String) async throws -> APIKey? { try await authenticate(Substring(text)) }
}
