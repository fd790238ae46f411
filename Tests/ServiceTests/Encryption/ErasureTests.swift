import AppStoreSimulation
import Foundation
import Postgres
import ReceiverSupport
import Relay
import TestRun
import Testing

/// `receipt-relay customers export` and `erase`.
@Suite struct ErasureTests {
    private static func run(_ setup: Setup, _ settings: [String: String], _ arguments: String...) async throws -> (
        code: Int32, text: String
    ) {
        let environment = ["RELAY_DATABASE_URL": setup.database.url].merging(settings) { $1 }
        let ended = try await ChildProcess.run("receipt-relay", ["customers"] + arguments, environment: environment)
        return (ended.code, ended.output.joined(separator: "\n"))
    }

    @Test(.timeLimit(.paced(minutes: 4)), arguments: TestRun.all([true, false], otherwise: 1))
    func aCustomersDataIsExportedAndErased(isSealed: Bool) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await withReceiver { port, received in
            let keys = ["RELAY_ENCRYPTION_KEYS": isSealed ? WrappingKey.make() : ""]
            let settings = store.settings(
                relayingTo: nil,
                keys.merging([
                    "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)/hook",
                    "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
                    "RELAY_CLEENG_WEBHOOK_SECRET": "a-secret-of-cleengs",
                ]) { $1 })
            try await Setup.run(settings: settings) { setup in
                let control = SimulatorControl(setup.simulator)
                try await control.tell(setup.relay, secret: "a-secret-of-cleengs")
                var life = try store.subscription()
                _ = life.bought(at: Date())
                func buy(_ email: String) async throws -> String {
                    let answer = try await setup.relay.purchase(try store.purchase(life, email: email))
                    let id = try #require(answer.json["validationId"].string)
                    #expect(try await setup.relay.outcome(id)["status"].string == "granted")
                    return id
                }
                let first = try await buy("ana@example.test")
                let second = try await buy("bob@example.test")
                try await Awaiting.fact("the endpoint has both messages") {
                    received().map(\.body).joined()
                } holds: {
                    $0.contains("ana@example.test") && $0.contains("bob@example.test")
                }
                try await control.behave("ana@example.test", "never")
                // Another offer: a late event of Cleeng about her first purchase could also end a wait for the same
                // offer.
                var other = try store.purchase(email: "ana@example.test")
                other.offer = "S598742062_US"
                let waiting = try await setup.relay.purchase(other)
                #expect(waiting.status == 202)

                let exported = try await Self.run(setup, keys, "export", "ANA@example.test", "--reason", "she asked")
                #expect(exported.code == 0)
                let json = try JSON(data: Data(exported.text.utf8))
                #expect(json["customerEmail"].string == "ana@example.test" && json["purchases"].array?.count == 2)
                #expect(json["purchases"].array?.allSatisfy { $0["receipt"].string?.hasPrefix("eyJ") == true } == true)
                #expect(json["transfers"].array?.count == 1 && json["messages"].array?.isEmpty == false)
                #expect(json["billingCustomers"].array?.isEmpty == true)
                #expect(json["events"].array != nil)

                let refused = try await Self.run(setup, keys, "erase", "ana@example.test", "--reason", "ticket 1")
                #expect(refused.code == 1 && refused.text.contains("still waited for"))
                #expect(try await setup.relay.poll(first).status == 200)
                try await setup.database.letDeadlinesCome()
                try await Awaiting.fact("it is written that nobody waits any more", is: 0) {
                    try await setup.database.query(SQL("SELECT FROM pursuits WHERE status = 0")).count
                }

                let dry = try await Self.run(setup, keys, "erase", "ana@example.test", "--reason", "x", "--dry-run")
                #expect(dry.code == 0 && dry.text.contains("2 purchases"))
                let erased = try await Self.run(setup, keys, "erase", "ana@example.test", "--reason", "ticket 1")
                #expect(erased.code == 0 && erased.text.contains("2 purchases"), "\(erased.text)")
                let again = try await Self.run(setup, keys, "erase", "ana@example.test", "--reason", "ticket 1")
                #expect(again.code == 1 && again.text.contains("nothing is known"))
                #expect(try await Self.run(setup, keys, "export", "ana@example.test").code == 1)

                // The other customer's data is unchanged, except the former owner's name.
                let left = try JSON(
                    data: Data(try await Self.run(setup, keys, "export", "bob@example.test").text.utf8))
                #expect(left["purchases"].array?.count == 1 && left["subscriptions"].array?.count == 1)
                #expect(left["transfers"][0]["from"].string == "erased")
                #expect(left["transfers"][0]["to"].string == "bob@example.test")
                let bobs = try await setup.relay.poll(second)
                #expect(bobs.json["status"].string == "granted", "\(bobs.status) \(bobs.text)")
                if !isSealed {
                    let tables = try await EncryptionTests.tables(setup.database, holding: "ana@example.test")
                    #expect(tables == [])
                }
                try await Awaiting.fact("no answer comes from memory any more", is: 404) {
                    try await setup.relay.poll(first).status
                }
                let audit = try await ChildProcess.run(
                    "receipt-relay", ["audit", "list", "--json"],
                    environment: ["RELAY_DATABASE_URL": setup.database.url].merging(keys) { $1 })
                #expect(audit.output.contains { $0.contains("customer.erase") })
                #expect(audit.output.contains { $0.contains("ticket 1") })
                // The same customer can come again as a new one.
                try await control.behave("ana@example.test", "after-0s")
                let fresh = try await setup.relay.purchase(try store.purchase(life, email: "ana@example.test"))
                #expect(fresh.status == 202 && fresh.json["validationId"].string != first)
            }
        }
    }
}
