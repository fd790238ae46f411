import AppStoreSimulation
import Foundation
import ReceiverSupport
import Testing

/// The console's data and acts, from a terminal.
@Suite struct OpsCommandTests {
    private struct Terminal {
        var setup: Setup

        func run(_ arguments: String...) async throws -> (code: Int32, text: String) {
            try await run(arguments)
        }

        func run(_ arguments: [String]) async throws -> (code: Int32, text: String) {
            let ended = try await ChildProcess.run(
                "receipt-relay", arguments,
                environment: ["RELAY_DATABASE_URL": setup.database.url, "USER": "olga"])
            return (ended.code, ended.output.joined(separator: "\n"))
        }

        /// Output of a successful command.
        func json(_ arguments: String...) async throws -> JSON {
            let ended = try await run(arguments + ["--json"])
            #expect(ended.code == 0, "\(arguments): \(ended.text)")
            return (try? JSON(data: Data(ended.text.utf8))) ?? .null
        }
    }

    @Test func statusShowsProblemsAndWaitingPurchases() async throws {
        try await Setup.run(settings: ["RELAY_CLEENG_PUBLISHER_TOKEN": "a_token_that_cleeng_never_gave_out"]) { setup in
            let terminal = Terminal(setup: setup)
            let well = try await Awaiting.fact("all is well") {
                try await terminal.run("status")
            } holds: {
                $0.code == 0
            }
            #expect(well.text.hasPrefix("Purchases go through."))
            #expect(well.text.contains("LAST SEEN") && well.text.contains(" s ago"))
            let bought = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            let id = try #require(bought.json["validationId"].string)
            let wrong = try await Awaiting.fact("something is wrong") {
                try await terminal.run("status")
            } holds: {
                $0.code == 2
            }
            for words in [
                "CRITICAL  Cleeng refuses our token or address", "X-Publisher-Token", "1 purchase waits",
                "RELAY_CLEENG_PUBLISHER_TOKEN", "receipt-relay validations list --waiting",
            ] { #expect(wrong.text.contains(words), "\(wrong.text)") }
            #expect(!wrong.text.contains("\u{1B}"))
            let json = try JSON(data: Data(try await terminal.run("status", "--json").text.utf8))
            #expect(json["severity"].string == "critical" && json["findings"][0]["place"].string == "waiting")
            let waiting = try await terminal.json("validations", "list", "--waiting")
            #expect(waiting["items"].array?.map { $0["validationId"].string } == [id])
            #expect(try await terminal.run("validations", "list", "--waiting", "--parked").code == 64)
            setup.relay.process.signal(SIGTERM)
            _ = await setup.relay.process.exitCode()
            #expect(try await terminal.run("status").text.contains("No worker is running"))
        }
    }

    @Test func aKilledWorkerIsReportedWithItsLastHeartbeat() async throws {
        try await Setup.run { setup in
            let terminal = Terminal(setup: setup)
            _ = try await Awaiting.fact("the copy has reported", is: 0) { try await terminal.run("status").code }
            setup.relay.process.signal(SIGKILL)
            let killed = ContinuousClock.now
            let status = try await Awaiting.fact("no worker is running") {
                try await terminal.run("status")
            } holds: {
                $0.code == 2
            }
            Measured.note("a killed worker is missed after", ContinuousClock.now - killed)
            #expect(status.text.contains("No worker is running"), "\(status.text)")
            #expect(status.text.contains("The last sign of life of one is "), "\(status.text)")
            #expect(status.text.contains("silent"), "\(status.text)")
        }
    }

    @Test func commandsShowACustomerATransferAndTheAuditLog() async throws {
        try await Setup.run { setup in
            let (terminal, relay) = (Terminal(setup: setup), setup.relay)
            let original = TestPurchase.newTransactionID()
            let ana = try await relay.pursue("ana@example.test", original: original)
            _ = try await relay.becomes("granted", ana)
            let bea = try await relay.pursue("bea@example.test", original: original)
            _ = try await relay.becomes("granted", bea)

            let shown = try await terminal.json("customers", "show", " BEA@example.test ")
            #expect(shown["validations"].array?.map { $0["validationId"].string } == [bea])
            #expect(shown["subscriptions"][0]["originalTransactionId"].string == original)
            #expect(shown["transfers"][0]["from"].string == "ana@example.test")
            let table = try await terminal.run("customers", "show", "ana@example.test")
            #expect(table.code == 0 && table.text.contains(ana) && table.text.contains("transferred"))
            #expect(try await terminal.run("customers", "show", "nobody@example.test").code == 1)

            let transfers = try await terminal.json("transfers", "--customer-email", "ana@example.test")
            #expect(transfers["items"][0]["toValidationId"].string == bea && transfers["nextCursor"].isNull)
            #expect(try await terminal.json("transfers", "list", "--original-transaction-id", "1")["items"].array == [])

            #expect(try await terminal.run("validations", "retry", ana, "--reason", "x").code == 1)
            #expect(try await terminal.run("publishers", "add", "south").code == 0)
            #expect(try await terminal.run("publishers", "add", "south").code == 0)
            let key = try await terminal.run(["keys", "create", "--role", "app", "--name", "Lea"]).text
            let id = try #require(key.split(separator: "_").dropFirst(2).first.map(String.init))
            #expect(try await terminal.run("keys", "revoke", id).code == 0)
            let twice = try await terminal.run("keys", "revoke", id)
            #expect(twice.code == 0 && twice.text == "\(id) is revoked already")
            #expect(try await terminal.run("keys", "revoke", "0000000000000000").code == 1)
            let audit = try await terminal.json("audit", "--actor", "olga")
            let done = audit["items"].array?.map { "\($0["action"].string ?? "") \($0["target"].string ?? "")" }
            #expect(done == ["key.revoke \(id)", "key.create \(id)", "publisher.add south"])
            #expect(!audit.description.contains(key))
            #expect(try await terminal.json("audit", "--limit", "1")["nextCursor"].string != nil)
            #expect(try await terminal.run("audit", "--action", "nothing").code == 64)
        }
    }

    @Test func notificationsAndMessages() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await withReceiver { port, _ in
            try await Setup.run(
                settings: store.settings(relayingTo: nil, ["RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8"])
            ) { setup in
                let terminal = Terminal(setup: setup)
                #expect(
                    try await terminal.run(["webhooks", "add", "--url", "http://127.0.0.1:\(port)/"]).code == 0)
                var life = try store.subscription()
                life.bought(at: Date())
                let bought = try await setup.relay.purchase(try store.purchase(life, email: "ana@example.test"))
                _ = try await setup.relay.outcome(try #require(bought.json["validationId"].string))
                let told = try await setup.relay.notify(life.renewalTurned(.off, at: Date()), signedBy: store)
                #expect(told.status == 200)
                let notifications = try await terminal.json("notifications", "--status", "off")
                #expect(notifications["items"][0]["type"].string == "DID_CHANGE_RENEWAL_STATUS")
                let id = try #require(notifications["items"][0]["id"].string)
                // With other settings than the service's, the notification is not genuine.
                let stranger = try await terminal.run("notifications", "replay", id, "--reason", "ticket 1")
                #expect(stranger.code == 1 && stranger.text.contains("not genuine"))
                let settings = store.settings(relayingTo: nil).merging([
                    "RELAY_DATABASE_URL": setup.database.url, "RELAY_CLEENG_PUBLISHER_TOKEN": Simulator.token,
                ]) { $1 }
                let again = try await ChildProcess.run(
                    "receipt-relay", ["notifications", "replay", id, "--reason", "ticket 1"], environment: settings)
                #expect(again.code == 0, "\(again.output)")
                #expect(try await terminal.json("audit", "--target", id)["items"][0]["reason"].string == "ticket 1")
                #expect(try await terminal.run("notifications", "replay", "x", "--reason", "y").code == 1)
                let delivered = try await Awaiting.fact("messages are delivered") {
                    try await terminal.json("webhooks", "deliveries", "--state", "delivered")
                } holds: {
                    ($0["items"].array?.count ?? 0) > 0
                }
                #expect(delivered["items"][0]["applicationUsername"].string == "ana@example.test")
                #expect(try await terminal.run("webhooks", "deliveries", "--state", "lost").code == 64)
            }
        }
    }
}
