import AppStoreSimulation
import Foundation
import Postgres
import ReceiverSupport
import Relay
import TestRun
import Testing

/// With a configured key, the database's files reveal nothing about customers.
@Suite struct EncryptionTests {
    private static let keys = ["RELAY_ENCRYPTION_KEYS": WrappingKey.make()]
    /// Beginnings of a JWS, for either first member of its header. Long enough that no sealed text has them by chance.
    private static let signed = ["eyJhbGci", "eyJ4NWMi"]

    /// Tables with `needle` in a text or in bytes, as a reader of the files would search.
    static func tables(_ database: TestDatabase, holding needle: String) async throws -> [String] {
        let tables = try await database.query(
            SQL(
                """
                SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1
                """)
        ).map { try $0.get(0, as: String.self) }
        var found: [String] = []
        for table in tables {
            // In a row's text form, `bytea` is hexadecimal.
            let hexadecimal = needle.utf8.map { String(format: "%02x", $0) }.joined()
            let rows = try await database.query(
                SQL(
                    "SELECT count(*) FROM \(table) t WHERE position($1 IN t::text) > 0 OR position($2 IN t::text) > 0",
                    [.text(needle), .text(hexadecimal)]))
            if try rows.first?.get(0, as: Int.self) ?? 0 > 0 { found.append(table) }
        }
        return found
    }

    /// A purchase and its transfer, a notification, an event, a customer's purchases, messages and an order: everything
    /// that writes.
    private static func live(_ setup: Setup, _ store: TestAppStore, hook: Int) async throws {
        let control = SimulatorControl(setup.simulator)
        var life = try store.subscription()
        let first = try await setup.relay.purchase(try store.purchase(bought(&life), email: "ana@example.test"))
        #expect(
            try await setup.relay.outcome(try #require(first.json["validationId"].string))["status"].string == "granted"
        )
        let second = try await setup.relay.purchase(try store.purchase(life, email: "bob@example.test"))
        #expect(
            try await setup.relay.outcome(try #require(second.json["validationId"].string))["status"].string
                == "granted")
        #expect(
            try await setup.relay.poll(try #require(first.json["validationId"].string)).json["reason"].string
                == "transferred")
        try await control.behave("zoe@example.test", "never")
        _ = try await setup.relay.purchase(try store.purchase(email: "zoe@example.test"))
        var notice = life.bought(at: Date())
        notice.notificationUUID = UUID().uuidString
        #expect(try await setup.relay.notify(notice, signedBy: store).status == 200)
    }

    private static func bought(_ life: inout SimulatedSubscription) -> SimulatedSubscription {
        _ = life.bought(at: Date())
        return life
    }

    private static func publisher(_ setup: Setup) async throws -> String {
        try await Relay.makeKey("publisher", setup.database, publisher: "main", settings: keys)
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func noCustomerDataIsReadableInTheDatabase() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await withReceiver { port, received in
            var settings = store.settings(relayingTo: nil, Self.keys)
            settings["RELAY_WEBHOOK_URLS"] = "http://127.0.0.1:\(port)/hook"
            settings["RELAY_WEBHOOK_ALLOW_NETWORKS"] = "127.0.0.0/8"
            settings["RELAY_CLEENG_WEBHOOK_SECRET"] = "a-secret-of-cleengs"
            try await Setup.run(grantAfter: 0.3, settings: settings) { setup in
                try await SimulatorControl(setup.simulator).tell(setup.relay, secret: "a-secret-of-cleengs")
                try await Self.live(setup, store, hook: port)
                let key = try await Self.publisher(setup)
                let bearer = ["Authorization": "Bearer main:\(key)"]
                let resync = try await ChildProcess.run(
                    "receipt-relay", ["webhooks", "resync", "--username", "bob@example.test"],
                    environment: settings.merging(["RELAY_DATABASE_URL": setup.database.url]) { $1 })
                #expect(resync.code == 0, "\(resync.output)")
                // Authorized readers get plain values: the publisher, operators, the endpoint.
                let purchases = try await HTTP.get(
                    setup.relay.url + "/v2/customers/bob%40example.test/purchases", headers: bearer)
                #expect(purchases.status == 200 && purchases.json["purchases"].description.contains("com.example"))
                let customers = try await HTTP.get(setup.relay.url + "/v2/customers/", headers: bearer)
                #expect(customers.text.contains("bob@example.test") && !customers.text.contains("sealed"))
                let listed = try await setup.relay.ops("/ops/validations?customerEmail=ana@example.test").json
                #expect(listed["items"].array?.first?["customerEmail"].string == "ana@example.test")
                let subscriptions = try await setup.relay.ops("/ops/subscriptions?customerEmail=bob@example.test").text
                #expect(subscriptions.contains("ana@example.test -> bob@example.test"))
                try await Awaiting.fact("the endpoint has the message") {
                    received().map(\.body).joined()
                } holds: {
                    $0.contains("ana@example.test") && $0.contains("bob@example.test")
                }
                for needle in ["example.test", "ana@", "bob@", "zoe@", "127.0.0.1\""] + Self.signed {
                    let found = try await Self.tables(setup.database, holding: needle)
                    #expect(found == [], "\(needle)")
                }
                let log = setup.relay.process.output.joined()
                #expect(!log.contains("sealed1:"))
            }
        }
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func aDatabaseInUseIsSealedAndOpenedAgainWhileNoCopyRuns() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        // Without keys, even if the environment of all tests has some.
        try await Setup.run(settings: store.settings(relayingTo: nil, ["RELAY_ENCRYPTION_KEYS": ""])) { setup in
            try await Self.live(setup, store, hook: 0)
            #expect(try await !Self.tables(setup.database, holding: "ana@example.test").isEmpty)
            var readable: [String] = []
            for needle in Self.signed { readable += try await Self.tables(setup.database, holding: needle) }
            #expect(readable.contains { $0.hasPrefix("receipts") })
            func run(_ arguments: String..., settings: [String: String] = Self.keys) async throws -> (Int32, String) {
                let environment = ["RELAY_DATABASE_URL": setup.database.url].merging(settings) { $1 }
                let ended = try await ChildProcess.run("receipt-relay", arguments, environment: environment)
                return (ended.code, ended.output.joined(separator: "\n"))
            }
            let refused = try await run("encryption", "enable")
            #expect(refused.0 == 78 && refused.1.contains("stop all copies first"))
            await setup.relay.end()
            _ = try await setup.database.query(SQL("DELETE FROM instances"))

            let enabled = try await run("encryption", "enable")
            #expect(enabled.0 == 0 && enabled.1.contains("is sealed"), "\(enabled.1)")
            for needle in ["example.test"] + Self.signed {
                let found = try await Self.tables(setup.database, holding: needle)
                #expect(found == [], "\(needle)")
            }
            #expect(try await run("encryption", "enable").0 == 0, "again is no harm")
            let status = try await run("encryption", "status", "--json")
            #expect(status.1.contains("\"sealed\"") && status.1.contains("\"canBeOpened\" : true"))
            // Without the right key, no data is shown and no pursuit is claimed.
            let without = try await run("validations", "list", settings: [:])
            #expect(without.0 == 78 && without.1.contains("RELAY_ENCRYPTION_KEYS"))
            let wrong = try await run("validations", "list", settings: ["RELAY_ENCRYPTION_KEYS": WrappingKey.make()])
            #expect(wrong.0 == 78 && wrong.1.contains("none of RELAY_ENCRYPTION_KEYS"))
            let blind = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: setup.relay.keys, isReady: false,
                settings: ["RELAY_ENCRYPTION_KEYS": ""])
            let ready = try await Awaiting.fact("it says why it is not ready") {
                blind.process.output.filter { $0.contains("what is private in this database is sealed") }.count
            } holds: {
                $0 > 0
            }
            #expect(ready > 0)
            #expect(try await blind.purchase(TestPurchase(email: "eve@example.test")).status == 503)
            await blind.end()

            // With the key, the service continues.
            let relay = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: setup.relay.keys,
                settings: store.settings(relayingTo: nil, Self.keys))
            let listed =
                try await relay.ops("/ops/validations?customerEmail=bob@example.test").json["items"].array ?? []
            #expect(listed.count == 1 && listed.first?["status"].string == "granted")
            var life = try store.subscription()
            let more = try await relay.purchase(try store.purchase(Self.bought(&life), email: "ana@example.test"))
            #expect(
                try await relay.outcome(try #require(more.json["validationId"].string))["status"].string == "granted")
            await relay.end()
            _ = try await setup.database.query(SQL("DELETE FROM instances"))

            let disabled = try await run("encryption", "disable")
            #expect(disabled.0 == 0, "\(disabled.1)")
            let left = try await Self.tables(setup.database, holding: "sealed1:")
            #expect(left == [])
            let plain = try await run(
                "validations", "list", "--customer-email", "ana@example.test", "--json", settings: [:])
            #expect(plain.0 == 0 && plain.1.components(separatedBy: "\"customerEmail\"").count == 3)
        }
    }
}
