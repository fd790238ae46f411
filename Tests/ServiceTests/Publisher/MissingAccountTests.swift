import Foundation
import Postgres
import ReceiverSupport
import Testing

/// A copy on the same database without the file of publishers. `nordic` has its own account, which that copy knows only
/// from the database.
@Suite struct MissingAccountTests {
    private static func withStray(
        settings: [String: String] = [:], _ body: (AccountScene, _ stray: AccountScene) async throws -> Void
    ) async throws {
        try await AccountScene.run(settings: settings) { scene in
            let (database, simulator) = (scene.setup.database, scene.setup.simulator)
            try await Awaiting.fact("the account is written down") {
                try await command(["publishers", "list", "--json"], scene).output.joined()
            } holds: {
                $0.contains(#""account":"own""#) || $0.contains(#""account" : "own""#)
            }
            let relay = try await Relay.start(
                database: database, simulator: simulator, keys: scene.relay.keys, settings: settings)
            let stray = AccountScene(
                setup: Setup(database: database, simulator: simulator, relay: relay), other: scene.other,
                nordicApp: scene.nordicApp)
            try await relay.during {
                try await body(scene, stray)
            }
        }
    }

    @discardableResult
    private static func command(
        _ arguments: [String], _ scene: AccountScene
    ) async throws -> (code: Int32, output: [String]) {
        let ended = try await ChildProcess.run(
            "receipt-relay", arguments, environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
        #expect(ended.code == 0, "\(ended.output)")
        return (ended.code, ended.output)
    }

    private static func nordics(_ simulator: Simulator) async throws -> Int {
        try await simulator.requests(path: "/apple/payment").count { $0.description.contains("nordic") }
    }

    /// Both copies accept purchases, and their order does not matter.
    @Test func claimsNoPurchaseWhoseAccountOnlyAnotherCopyHas() async throws {
        try await Self.withStray { scene, stray in
            var waiting: [String] = []
            for number in 0..<20 {
                let purchase = TestPurchase(email: "nordic\(number)@example.test")
                waiting.append(try await (number.isMultiple(of: 2) ? scene : stray).buy(purchase, nordic: true))
            }
            for id in waiting { #expect(try await stray.outcome(id, nordic: true) == "granted") }
            #expect(try await Self.nordics(scene.setup.simulator) == 0)
            #expect(try await scene.setup.simulator.requests().isEmpty)
        }
    }

    @Test func leavesThePublishersWorkAndReportsIt() async throws {
        try await withReceiver { port, received in
            try await Self.withStray(settings: ["RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8"]) { scene, stray in
                let before = try await scene.buy(TestPurchase(email: "nordic0@example.test"), nordic: true)
                #expect(try await scene.outcome(before, nordic: true) == "granted")
                for publisher in ["main", "nordic"] {
                    try await Self.command(
                        [
                            "webhooks", "add", "--url", "http://127.0.0.1:\(port)/\(publisher)", "--publisher",
                            publisher,
                        ], scene)
                }
                await scene.relay.end()
                let told = received().count
                // Due work of the publisher: a pursuit, a ledger and a message.
                let waiting = try await stray.buy(TestPurchase(email: "nordic1@example.test"), nordic: true)
                _ = try await scene.setup.database.query(
                    SQL("UPDATE ledgers SET due_at = now() WHERE publisher = 'nordic'"))
                try await Self.command(
                    ["webhooks", "resync", "--username", "nordic0@example.test", "--publisher", "nordic"], scene)
                let common = try await stray.buy(TestPurchase(email: "ana@example.test"), nordic: false)
                #expect(try await stray.outcome(common, nordic: false) == "granted")
                _ = try await Awaiting.fact("main has the message") {
                    received()
                } holds: {
                    $0.contains { $0.path == "/main" }
                }
                #expect(!received().dropFirst(told).contains { $0.path == "/nordic" })
                #expect(try await stray.relay.poll(waiting, key: stray.nordicApp).json["status"].string == "pending")
                let sent = try await scene.setup.simulator.requests()
                #expect(!sent.isEmpty && !sent.contains { $0.description.contains("nordic") }, "\(sent)")
                let metrics = try await stray.relay.metrics()
                #expect(metrics.contains("relay_accounts_missing 1"))
                #expect(
                    stray.relay.process.output.contains {
                        $0.contains(#""level":"error""#) && $0.contains("use-common-account")
                            && $0.contains(#""publisher":"nordic""#)
                    })
                let tested = try await ChildProcess.run(
                    "receipt-relay", ["webhooks", "test"],
                    environment: [
                        "RELAY_DATABASE_URL": scene.setup.database.url, "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
                    ])
                #expect(tested.code == 1 && tested.output.contains { $0.contains("RELAY_PUBLISHERS_FILE") })
                #expect(!received().contains { $0.path == "/nordic" && $0.body.contains(#""type":"test""#) })

                try await Self.command(["publishers", "use-common-account", "nordic"], scene)
                #expect(try await stray.outcome(waiting, nordic: true) != "pending")
                _ = try await Awaiting.fact("nordic has the message") {
                    received()
                } holds: {
                    $0.contains { $0.path == "/nordic" }
                }
                #expect(try await Self.nordics(scene.setup.simulator) > 0)
            }
        }
    }
}
