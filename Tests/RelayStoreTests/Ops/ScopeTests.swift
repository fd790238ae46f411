import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Which publisher's rows an ops key may see")
struct ScopeTests {
    private static let others: [PublisherID] = ["acme", "nordic"]

    /// Ops keys as the previous version left them: each names a publisher and sees all rows.
    private func upgraded(
        _ publishers: [PublisherID], _ check: (RelayStore, [APIKeyID: APIKey]) async throws -> Void
    ) async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            try await store.schema.migrate(Migration.all.filter { $0.number < 21 })
            for publisher in publishers {
                try await database.run("INSERT INTO publishers (id) VALUES ($1)", .text(publisher))
                for role in KeyRole.allCases {
                    let digest = thirtyTwoBytes("\(publisher) \(role.name)")
                    try await database.run(
                        """
                        INSERT INTO api_keys (id, publisher, role, app, name, digest)
                        VALUES ($1, $2, \(role.rawValue), '', $1, $3)
                        """, .text("\(publisher) \(role.name)"), .text(publisher), .bytea(digest))
                }
            }
            try await database.run(
                """
                INSERT INTO audit_log (bucket, id, actor, action, target)
                VALUES (1, gen_random_uuid(), 'shell', 'key.create', 'before')
                """)
            try await store.schema.migrate()
            let keys = try await store.keys.list(includingRevoked: true)
            try await check(store, Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { $1 }))
        }
    }

    @Test("an upgrade with one publisher changes nothing: its ops keys have all publishers in scope")
    func oneBefore() async throws {
        try await upgraded(["main"]) { store, keys in
            for role in ["ops-viewer", "ops-operator"] {
                let key = try #require(keys[APIKeyID("main \(role)")])
                #expect(key.opsScope.isAll && key.scopeText == "all")
                let lines = try await store.audit.list(matching: AuditFilter(), in: key.opsScope).items
                #expect(lines.map(\.target.value) == ["before"])
            }
            for role in ["app", "publisher"] { #expect(keys[APIKeyID("main \(role)")]?.scopeText == "main") }
        }
    }

    @Test("an upgrade with several publishers limits each ops key to the one that it names")
    func severalBefore() async throws {
        try await upgraded(["main"] + Self.others) { store, keys in
            for publisher in ["main"] + Self.others {
                for role in KeyRole.allCases {
                    let key = try #require(keys[APIKeyID("\(publisher) \(role.name)")])
                    #expect(key.opsScope.publisher == publisher && key.scopeText == publisher.text)
                }
                let scope = OpsScope.publisher(publisher)
                #expect(try await store.audit.list(matching: AuditFilter(), in: scope).items.isEmpty)
                #expect(
                    try await store.keys.list(includingRevoked: true, in: scope).allSatisfy {
                        $0.publisher == publisher
                    })
            }
        }
    }

    @Test("one publisher's key neither sees nor revokes those of others or of all")
    func keys() async throws {
        try await withStore { database, store in
            var generator = SystemRandomNumberGenerator()
            var ids: [String: APIKeyID] = [:]
            for publisher in Self.others {
                let key = try await store.keys.create(
                    role: .app, name: publisher.text, publisher: publisher, app: "", using: &generator)
                ids[publisher.text] = APIKey.id(in: key)
            }
            let key = try await store.keys.create(
                role: .opsViewer, name: "all", publisher: Self.others[0], app: "", seesAllPublishers: true,
                using: &generator)
            ids["all"] = APIKey.id(in: key)
            let acme = OpsScope.publisher("acme")
            #expect(try await store.keys.list(includingRevoked: true, in: acme).map(\.name) == ["acme"])
            for other in ["nordic", "all"] {
                #expect(try await store.keys.revoke(try #require(ids[other]), in: acme) == nil, "\(other)")
            }
            #expect(try await store.keys.list(includingRevoked: false, in: .all).count == 3)
            #expect(try await store.keys.revoke(try #require(ids["acme"]), in: acme) == "acme")
        }
    }

    @Test("only its own publisher's operator abandons an orphaned pursuit")
    func orphan() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample(subscription: "s", publisher: "acme"))
            try await database.run("DELETE FROM validations")
            await #expect(throws: OpsRefusal.unknown) {
                try await store.ops.abandon(id, within: .publisher("nordic"), by: "Nora", reason: "not mine")
            }
            #expect(try await database.count("pursuits") == 1)
            try await store.ops.abandon(id, within: .publisher("acme"), by: "Ada", reason: "mine")
            #expect(try await database.count("pursuits") == 0)
            let line = try await store.audit.list(matching: AuditFilter(), in: .publisher("acme")).items.first
            #expect(line?.target.value == "\(id)" && line?.actor == "Ada")
            #expect(try await store.audit.list(matching: AuditFilter(), in: .publisher("nordic")).items.isEmpty)
        }
    }

    @Test("rows without a publisher are visible only in the scope of all")
    func common() async throws {
        try await withStore { database, store in
            let acme = OpsScope.publisher("acme")
            let hidden = try await store.activity.list(step: .seconds(60), steps: 2, in: acme)
            let shown = try await store.activity.list(step: .seconds(60), steps: 2, in: .all)
            #expect(hidden == nil && shown != nil)
            #expect(acme.contains("acme") && !acme.contains("nordic") && OpsScope.all.contains("nordic"))
        }
    }
}

@Suite("The statements that readiness runs")
struct ProbeStatementTests {
    @Test("write nothing, and fail if a column is missing", arguments: RelayStore.Probe.allCases)
    func refused(probe: RelayStore.Probe) async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await store.run(probe)
            #expect(try await database.count("validations") == 1)
            #expect(try await database.count("pursuits") == 1)
            #expect(try await store.purchases.claimDue([.forwarding: 1], lease: RelayStore.lease).map(\.id) == [id])
            let (table, column) =
                probe == .accept ? ("idempotency_keys", "fingerprint") : ("pursuits", "synchronization")
            try await database.run("ALTER TABLE \(table) RENAME COLUMN \(column) TO gone")
            for other in RelayStore.Probe.allCases where other != probe { try await store.run(other) }
            do {
                try await store.run(probe)
                Issue.record("it was not refused")
            } catch let error as PostgresError {
                #expect(error.isRefusal && "\(error)".contains("column") && "\(error)".contains("does not exist"))
            }
        }
    }
}
