import Foundation
import Postgres
import Testing

/// The commands around the service.
@Suite(.serialized) struct IntakeCommandTests {
    @Test func migrationsRunFromAnyFolderTwiceAndTwoAtOnce() async throws {
        let database = try await TestDatabase.make(migrated: false)
        let environment = ["RELAY_DATABASE_URL": database.url]
        func run(_ arguments: String..., folder: String = "/") async throws -> CommandRun {
            try await CommandRun.relay(arguments, environment: environment, folder: folder)
        }
        let before = try await run("migrate", "status")
        #expect(before.code != 0)
        #expect(before.out.contains { $0.contains("0001") && $0.contains("missing") })
        let early = try await run("keys", "list")
        #expect(early.code != 0)
        #expect(early.err.count == 1 && early.err[0].contains("migrate"), "\(early)")

        async let one = run("migrate", "up", folder: "/")
        async let two = run("migrate", folder: NSTemporaryDirectory())
        async let three = run("migrate", "up", folder: "/usr")
        for result in [try await one, try await two, try await three] { #expect(result.code == 0, "\(result)") }
        let again = try await run("migrate", "up")
        #expect(again.code == 0)
        #expect(!again.out.contains { $0.hasPrefix("applied") })
        let after = try await run("migrate", "status", folder: NSTemporaryDirectory())
        #expect(after.code == 0)
        #expect(after.out.allSatisfy { $0.contains("applied") } && !after.out.isEmpty)
        let names = try await database.query(
            SQL("SELECT count(*), count(DISTINCT number) FROM schema_migrations"))
        #expect(try names.first?.get(0, as: Int64.self) == names.first?.get(1, as: Int64.self))

        _ = try await database.query(SQL("UPDATE schema_migrations SET checksum = 'edited' WHERE number = 1"))
        for command in [["migrate", "up"], ["migrate", "status"]] {
            let edited = try await CommandRun.relay(command, environment: environment)
            #expect(edited.code != 0)
            #expect(edited.err.count == 1 && edited.err[0].contains("0001"), "\(edited)")
        }
        try await database.drop()
    }

    @Test func keysAreMadeListedAndRevokedAndTheDatabaseHoldsNoneOfThem() async throws {
        try await Setup.run { setup in
            let environment = ["RELAY_DATABASE_URL": setup.database.url]
            func keys(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.relay(["keys"] + arguments, environment: environment)
            }
            // A mistyped name does not create a publisher.
            let refused = try await keys("create", "--role", "app", "--name", "x", "--publisher", "new-one")
            #expect(refused.code == 1 && refused.out.isEmpty && refused.err.count == 1, "\(refused)")
            for words in ["no publisher new-one", "known are main", "publishers add new-one"] {
                #expect(refused.err[0].contains(words), "\(refused)")
            }
            #expect(try await CommandRun.relay(["publishers", "add", "new-one"], environment: environment).code == 0)
            var made: [String] = []
            for role in ["app", "publisher", "ops-viewer", "ops-operator"] {
                let run = try await keys(
                    "create", "--role", role, "--name", "Key of \(role)", "--publisher", "new-one", "--app",
                    "com.example.x")
                #expect(run.code == 0 && run.err.isEmpty && run.out.count == 1, "\(run)")
                let key = try #require(run.out.first)
                #expect(key.wholeMatch(of: /[!-~]{40,}/) != nil)
                made.append(key)
            }
            #expect(Set(made).count == 4)
            let publishers = try await setup.database.query(SQL("SELECT id FROM publishers ORDER BY id"))
            #expect(try publishers.map { try $0.get(0, as: String.self) } == ["main", "new-one"])

            let list = try await keys("list")
            #expect(list.code == 0)
            #expect(try await keys().out == list.out)
            let json = try JSON(data: Data(try await keys("list", "--json").out.joined(separator: "\n").utf8))
            #expect(json.array?.count == 7)
            let mine = try #require(json.array?.first { $0["name"].string == "Key of app" })
            #expect(mine["role"].string == "app")
            #expect(mine["publisher"].string == "new-one")
            #expect(mine["app"].string == "com.example.x")
            for key in made {
                let secret = key.suffix(40)
                #expect(!list.out.contains { $0.contains(secret) } && !"\(json)".contains(secret))
            }

            let app = made[0]
            try await setup.relay.waitUntilKnown([app])
            let accepted = try await setup.relay.purchase(
                TestPurchase(email: "key@example.test"), key: app,
                headers: ["Idempotency-Key": "idempotency-of-key-test"])
            #expect(accepted.status == 202)
            let id = try #require(accepted.json["validationId"].string)
            #expect(try await setup.relay.poll(id, wait: 60, key: app).json["status"].string == "granted")
            try await Self.expectNowhere(
                made + [setup.relay.keys.app, setup.relay.keys.operator, Simulator.token], in: setup.database)

            let keyID = try #require(mine["id"].string)
            #expect(try await keys("revoke", keyID).code == 0)
            try await setup.relay.poll(upTo: Awaiting.patience, "the revoked key opens nothing") {
                try await setup.relay.poll(id, key: app).status == 401
            }
            expectProblem(try await setup.relay.purchase(TestPurchase(email: "k2@example.test"), key: app), 401)
            // The other keys still work. The revoked one is listed only on request.
            #expect(try await setup.relay.poll(id).status == 404)
            #expect(try await !keys("list").out.contains { $0.contains(keyID) })
            #expect(try await keys("list", "--all").out.contains { $0.contains(keyID) })
            #expect(try await keys("revoke", "0000000000000000").code != 0)
        }
    }

    /// Searches every row of every table, as text and as bytes.
    private static func expectNowhere(_ secrets: [String], in database: TestDatabase) async throws {
        let tables = try await database.query(
            SQL("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()"))
        #expect(tables.count > 5)
        for table in try tables.map({ try $0.get(0, as: String.self) }) {
            for secret in secrets {
                let tail = String(secret.suffix(40))
                let hex = tail.utf8.map { String(format: "%02x", $0) }.joined()
                let rows = try await database.query(
                    SQL(
                        unescaped:
                            "SELECT count(*) FROM \(table) AS t WHERE strpos(t::text, '\(tail)') + strpos(t::text, '\(hex)') > 0"
                    ))
                #expect(try rows.first?.get(0, as: Int64.self) == 0, "\(table)")
            }
        }
    }

    @Test func healthcheckReportsByItsExitCode() async throws {
        let database = try await TestDatabase.make(migrated: false)
        let simulator = try await Simulator.start()
        let relay = try await Relay.start(
            database: database, simulator: simulator, keys: .init(app: "", viewer: "", operator: ""), isReady: false)
        let port = String(relay.opsURL.split(separator: ":").last ?? "")
        func check(_ port: String) async throws -> CommandRun {
            try await CommandRun.relay(["healthcheck"], environment: ["RELAY_OPS_PORT": port])
        }
        // The service runs but is not ready: the database has no schema.
        let unready = try await check(port)
        #expect(unready.code == 1 && unready.err.count == 1, "\(unready)")
        _ = try await CommandRun.relay(["migrate"], environment: ["RELAY_DATABASE_URL": database.url])
        _ = await relay.process.line { $0.contains("\"message\":\"ready\"") }
        let ready = try await check(port)
        #expect(ready.code == 0, "\(ready)")
        let folder = try ScratchFolder()
        let file = try folder.write("ops.yaml", "ops:\n  port: \(port)\n")
        #expect(try await CommandRun.relay(["healthcheck", "--config", file]).code == 0)
        folder.remove()
        await relay.end()
        let gone = try await check(port)
        #expect(gone.code == 1 && gone.err.count == 1, "\(gone)")
        let malformed = try await check("ninety")
        #expect(malformed.code > 1 && malformed.err.first?.contains("RELAY_OPS_PORT") == true, "\(malformed)")
        await simulator.end()
        try await database.drop()
    }

    @Test func anUnknownCommandFails() async throws {
        let environment = ["RELAY_DATABASE_URL": "postgresql://relay@127.0.0.1:1/none"]
        for arguments in [
            ["serf"], ["keys", "steal"], ["keys", "create"], ["keys", "create", "--role", "app"],
            ["keys", "create", "--role", "root", "--name", "x"], ["keys", "create", "--role", "app", "--name", " "],
            ["keys", "create", "--role", "app", "--name", "x", "--publisher", "No Such!"], ["keys", "revoke"],
            ["migrate", "down"], ["serve", "--role", "boss"], ["serve", "--colour"], ["serve", "extra"],
            ["validations", "show"], ["validations", "show", "x"], ["validations", "delete"], ["healthcheck", "now"],
        ] {
            let run = try await CommandRun.relay(arguments, environment: environment)
            #expect(run.code > 0 && !run.wasStopped, "\(arguments) \(run)")
            #expect(run.out.isEmpty && !run.err.isEmpty, "\(arguments) \(run)")
        }
        let help = try await CommandRun.relay(["--help"])
        #expect(help.code == 0)
        for command in ["serve", "migrate", "keys", "validations", "healthcheck"] {
            #expect(help.out.contains { $0.contains("  \(command)") }, "\(command)")
        }
        // The error is one line without a password or a stack trace.
        let away = try await CommandRun.relay(
            ["keys", "list"], environment: ["RELAY_DATABASE_URL": "postgresql://relay:hush-hush@127.0.0.1:1/none"])
        #expect(away.code > 0 && away.out.isEmpty && away.err.count == 1, "\(away)")
        #expect(!away.err.joined().contains("hush-hush"))
        for words in ["127.0.0.1", "port 1", "Connection refused", "RELAY_DATABASE_URL"] {
            #expect(away.err[0].contains(words), "\(away)")
        }
    }

    @Test func aUsageErrorShowsTheUsageOfItsSubcommand() async throws {
        let environment = ["RELAY_DATABASE_URL": "postgresql://relay@127.0.0.1:1/none"]
        for (arguments, command) in [
            (["validations", "show", "x"], "validations show"), (["webhooks", "test", "x"], "webhooks test"),
            (["webhooks", "remove", "x"], "webhooks remove"), (["keys", "create"], "keys create"),
        ] {
            let run = try await CommandRun.relay(arguments, environment: environment)
            #expect(run.code == 64 && run.err.contains { $0.hasPrefix("Usage: receipt-relay \(command)") }, "\(run)")
        }
    }

    @Test func aMissingRoleOrDatabaseIsNamed() async throws {
        let database = try await TestDatabase.make()
        let url = try #require(URLComponents(string: database.url))
        func run(_ change: (inout URLComponents) -> Void) async throws -> CommandRun {
            var url = url
            change(&url)
            return try await CommandRun.relay(["keys", "list"], environment: ["RELAY_DATABASE_URL": url.string ?? ""])
        }
        let noDatabase = try await run { $0.path = "/no_such_database" }
        #expect(noDatabase.err.count == 1 && noDatabase.code == 69, "\(noDatabase)")
        #expect(noDatabase.err[0].contains(#"database "no_such_database" does not exist"#), "\(noDatabase)")
        #expect(noDatabase.err[0].contains("CREATE DATABASE"), "\(noDatabase)")
        let noRole = try await run { ($0.user, $0.password) = ("no_such_role", "hush-hush") }
        #expect(noRole.err.count == 1 && noRole.code == 69, "\(noRole)")
        #expect(noRole.err[0].contains("no_such_role") && !noRole.err[0].contains("hush-hush"), "\(noRole)")
        try await database.drop()
    }

    @Test func aDamagedSchemaIsNamed() async throws {
        let database = try await TestDatabase.make()
        _ = try await database.query(SQL("DROP TABLE timeline"))
        for (arguments, code) in [(["migrate"], 65), (["migrate", "status"], 1)] as [([String], Int32)] {
            let run = try await CommandRun.relay(arguments, environment: ["RELAY_DATABASE_URL": database.url])
            #expect(run.code == code && run.err.count == 1, "\(run)")
            #expect(run.err[0].contains("timeline") && !run.err[0].contains("no schema"), "\(run)")
        }
        let status = try await CommandRun.relay(["status"], environment: ["RELAY_DATABASE_URL": database.url])
        #expect(status.code == 2 && status.out.joined().contains("timeline"), "\(status)")
        _ = try await database.query(SQL("DROP TABLE api_keys CASCADE"))
        let keys = try await CommandRun.relay(["keys", "list"], environment: ["RELAY_DATABASE_URL": database.url])
        #expect(keys.code == 65 && keys.err.count == 1 && keys.err[0].contains("api_keys"), "\(keys)")
        try await database.drop()
    }

    @Test func aTakenPortIsOneLine() async throws {
        try await Setup.run { setup in
            let port = setup.relay.url.split(separator: ":").last.map(String.init) ?? ""
            let run = try await CommandRun.relay(
                ["serve"],
                environment: [
                    "RELAY_DATABASE_URL": setup.database.url, "RELAY_CLEENG_PUBLISHER_TOKEN": Simulator.token,
                    "RELAY_HTTP_HOST": "127.0.0.1", "RELAY_HTTP_PORT": port, "RELAY_OPS_PORT": "0",
                ])
            #expect(run.code == 70 && run.out.isEmpty && run.err.count == 1, "\(run)")
            #expect(run.err[0].contains("127.0.0.1:\(port)") && run.err[0].contains("RELAY_HTTP_PORT"), "\(run)")
            // A healthy start logs none of these.
            let log = setup.relay.process.output.joined(separator: "\n")
            for words in ["can be claimed", "\"error\":\"locked\"", "CancellationError"] {
                #expect(!log.contains(words))
            }
            #expect(log.contains("purchases go to Cleeng"))
        }
    }
}
