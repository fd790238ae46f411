import AppStoreSimulation
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import Postgres
import ReceiverSupport
import Relay
import TestRun
import Testing

/// Tests of the whole service with corrupt events, messages and subscriptions. Other rows are processed, ops shows the
/// reason, and a replay processes the row once it is repaired.
@Suite struct ParkedItemTests {
    private static let secret = "a-shared-secret-of-the-tests"
    private static let sealing = ["RELAY_ENCRYPTION_KEYS": WrappingKey.make()]

    private static func command(_ setup: Setup, _ arguments: String...) async throws -> CommandRun {
        try await CommandRun.relay(
            arguments,
            environment: sealing.merging(["RELAY_DATABASE_URL": setup.database.url, "USER": "olga"]) { $1 })
    }

    private static func run(_ more: [String: String] = [:], _ body: (Setup) async throws -> Void) async throws {
        var settings = sealing.merging(["RELAY_CLEENG_WEBHOOK_SECRET": secret]) { $1 }
        settings.merge(more, uniquingKeysWith: { $1 })
        try await Setup.run(settings: settings, body)
    }

    private static func sql(_ setup: Setup, _ text: String) async throws {
        _ = try await setup.database.query(SQL(text))
    }

    private static func number(_ setup: Setup, _ text: String) async throws -> Int {
        try await setup.database.query(SQL(text)).first?.get(0) ?? 0
    }

    /// Skips the pauses between failures until one row is parked.
    private static func park(_ setup: Setup, _ table: String) async throws {
        for failures in 1..<5 {
            try await Awaiting.fact("it has failed \(failures) times") {
                try await number(setup, "SELECT max(failures) FROM \(table)")
            } holds: {
                $0 >= failures
            }
            try await sql(setup, "UPDATE \(table) SET due_at = now() WHERE failures = \(failures)")
        }
        try await Awaiting.fact("it is parked", is: 1) {
            try await number(setup, "SELECT count(*) FROM \(table) WHERE parked_at IS NOT NULL")
        }
    }

    private static func counts(_ setup: Setup, _ queue: String, _ field: String) async throws {
        #expect(try await setup.relay.ops("/ops/summary").json["backlog"][field].int == 1)
        #expect(try await setup.relay.metric("relay_parked_items{queue=\"\(queue)\"}") == 1)
        #expect(try await setup.relay.metric("relay_items_parked_total{queue=\"\(queue)\"}") == 1)
        let status = try await command(setup, "status")
        #expect(status.out.contains { $0.contains("1 ") && $0.contains("is parked") }, "\(status)")
    }

    @Test(.timeLimit(.paced(minutes: 2)))
    func oneCorruptMessageAmongSixIsParkedAndFiveAreDelivered() async throws {
        let isWell = NIOLockedValueBox(false)
        try await withReceiver { _ in
            Response(status: isWell.withLockedValue { $0 } ? .ok : .serviceUnavailable)
        } _: { port, received in
            let settings = [
                "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)/", "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
                "RELAY_WEBHOOK_RETRY_SECONDS": "3600,3600",
            ]
            try await Self.run(settings) { setup in
                for number in 0..<6 { _ = try await setup.relay.pursue("c\(number)@example.test") }
                try await Awaiting.fact("six messages have been tried", is: 6) {
                    try await Self.number(
                        setup, "SELECT count(*) FROM webhook_queue WHERE owner IS NULL AND tries = 1")
                }
                try await Self.sql(setup, "CREATE TABLE kept AS SELECT * FROM webhook_deliveries")
                try await Self.sql(
                    setup,
                    "UPDATE webhook_deliveries SET body = left(body, length(body) - 1) WHERE id = (SELECT min(id::text)::uuid FROM webhook_queue)"
                )
                isWell.withLockedValue { $0 = true }
                try await Self.sql(setup, "UPDATE webhook_queue SET due_at = now()")
                try await Awaiting.fact("five are delivered", is: 5) {
                    try await Self.number(
                        setup, "SELECT count(*) FROM webhook_deliveries WHERE state = 1 AND tries = 2")
                }
                try await Self.park(setup, "webhook_queue")
                let list = try await setup.relay.ops("/ops/webhooks?state=parked").json["items"].array ?? []
                #expect(list.count == 1 && list[0]["lastError"].string?.contains("cannot be") == true, "\(list)")
                try await Self.counts(setup, "webhooks", "webhooksParked")

                try await Self.sql(
                    setup, "UPDATE webhook_deliveries d SET body = k.body FROM kept k WHERE k.id = d.id")
                let id = try #require(list.first?["id"].string)
                #expect(
                    try await setup.relay.opsPost("/ops/webhooks/\(id)/replay", key: setup.relay.keys.viewer).status
                        == 403)
                let answer = try await setup.relay.opsPost("/ops/webhooks/\(id)/replay")
                #expect(answer.status == 202 && answer.json["id"].string == id)
                try await Awaiting.fact("it is delivered too", is: 6) {
                    try await Self.number(setup, "SELECT count(*) FROM webhook_deliveries WHERE state = 1")
                }
                #expect(received().contains { $0.headers["webhook-id"]?.hasPrefix(id) == true })
            }
        }
    }

    private func send(_ number: Int, to relay: Relay) async throws {
        let body = Data(
            #"{"broadcasterId":123456789,"topic":"subscriptionRenewed","data":{"number":\#(number)}}"#.utf8)
        #expect(try await relay.cleengEvent(body, secret: Self.secret).status == 200)
    }

    @Test(.timeLimit(.paced(minutes: 2)))
    func oneCorruptEventAmongSixIsParkedAndFiveAreHandled() async throws {
        try await Self.run { setup in
            for number in 0..<6 { try await send(number, to: setup.relay) }
            func handled(_ count: Int) async throws {
                try await Awaiting.fact("\(count) are handled", is: count) {
                    try await Self.number(setup, "SELECT count(*) FROM cleeng_events WHERE due_at IS NULL")
                }
            }
            try await handled(6)
            try await Self.sql(setup, "CREATE TABLE kept AS SELECT * FROM cleeng_events")
            try await Self.sql(
                setup,
                """
                WITH bad AS (UPDATE cleeng_events SET body = substr(body, 1, octet_length(body) - 1)
                             WHERE id = (SELECT min(id::text)::uuid FROM cleeng_events) RETURNING id)
                SELECT count(*) FROM bad
                """)
            try await Self.sql(setup, "UPDATE cleeng_events SET due_at = now(), attempts = 0")
            try await handled(5)
            try await Self.park(setup, "cleeng_events")
            #expect(
                try await Self.number(
                    setup, "SELECT count(*) FROM cleeng_events WHERE attempts = 1 AND parked_at IS NULL") == 5)
            let list = try await setup.relay.ops("/ops/events?status=parked").json["items"].array ?? []
            #expect(list.count == 1 && list[0]["lastError"].string?.contains("cannot be") == true, "\(list)")
            try await Self.counts(setup, "events", "eventsParked")

            try await Self.sql(setup, "UPDATE cleeng_events e SET body = k.body FROM kept k WHERE k.id = e.id")
            let id = try #require(list.first?["id"].string)
            #expect(
                try await setup.relay.opsPost("/ops/events/\(id)/replay", key: setup.relay.keys.viewer).status == 403)
            #expect(try await setup.relay.opsPost("/ops/events/00/replay").json["code"].string == "unknown_event")
            let shown = try await Self.command(setup, "events", "list", "--status", "parked")
            #expect(shown.code == 0 && shown.out.count == 2 && shown.out[1].hasPrefix(id), "\(shown)")
            let replayed = try await Self.command(setup, "events", "replay", id, "--reason", "mended")
            #expect(replayed.code == 0, "\(replayed)")
            try await handled(6)
            #expect(try await setup.relay.ops("/ops/events?status=handled").json["items"].array?.count == 6)
            let audit = try await Self.command(setup, "audit", "list")
            #expect(audit.out.contains { $0.contains("event.replay") && $0.contains("olga") }, "\(audit)")
        }
    }

    @Test(.timeLimit(.paced(minutes: 2)))
    func oneCorruptLedgerAmongSixIsParkedAndFiveAreLookedAt() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Self.run(store.settings(relayingTo: nil, [:])) { setup in
            for _ in 0..<6 {
                var life = try store.subscription()
                #expect(try await setup.relay.notify(life.bought(at: Date()), signedBy: store).status == 200)
            }
            #expect(try await Self.number(setup, "SELECT count(*) FROM ledgers WHERE due_at IS NOT NULL") == 6)
            try await Self.sql(setup, "CREATE TABLE kept AS SELECT * FROM ledgers")
            try await Self.sql(
                setup,
                "UPDATE ledgers SET state = '{' WHERE subscription_key = (SELECT min(subscription_key) FROM ledgers)")
            try await Self.sql(setup, "UPDATE ledgers SET due_at = now(), heard_at = 'epoch'")
            try await Awaiting.fact("five are looked at", is: 5) {
                try await Self.number(setup, "SELECT count(*) FROM ledgers WHERE heard_at > 'epoch' AND strikes = 0")
            }
            try await Self.park(setup, "ledgers")
            let list = try await setup.relay.ops("/ops/subscriptions?parked=true").json["items"].array ?? []
            #expect(list.count == 1 && list[0]["trouble"].string?.contains("ledgers.state") == true, "\(list)")
            #expect(list.first?["parkedAt"].string != nil)
            try await Self.counts(setup, "subscriptions", "subscriptionsParked")

            try await Self.sql(
                setup, "UPDATE ledgers l SET state = k.state FROM kept k WHERE k.subscription_key = l.subscription_key")
            let id = try #require(list.first?["id"].string)
            #expect(try await setup.relay.opsPost("/ops/subscriptions/\(id)/replay").status == 202)
            try await Awaiting.fact("it is looked at too", is: 6) {
                try await Self.number(
                    setup,
                    "SELECT count(*) FROM ledgers WHERE heard_at > 'epoch' AND strikes = 0 AND failures = 0 AND due_at > now()"
                )
            }
            #expect(try await setup.relay.ops("/ops/summary").json["backlog"]["subscriptionsParked"].int == 0)
        }
    }
}
