import Foundation
import Postgres
import TestRun
import Testing

/// Tests with purchases in the database that no worker can process. Other purchases are processed, ops shows the
/// reason, and a replay processes the purchase once it is repaired.
@Suite struct PoisonTests {
    /// Accepts purchases while no worker runs, changes their rows, and then starts a worker.
    private static func plant(
        _ emails: [String], settings: [String: String] = [:],
        _ poison: (TestDatabase, _ ids: [String]) async throws -> Void,
        _ body: (_ front: Relay, _ worker: Relay, _ ids: [String], Simulator) async throws -> Void
    ) async throws {
        try await BadDay.run(on: TestDatabase.make(), grantAfter: 0, settings: settings) { day in
            let front = try await day.relay(role: "front")
            var ids: [String] = []
            for email in emails { ids.append(try await front.pursue(email)) }
            try await poison(day.database, ids)
            try await body(front, day.relay(role: "worker"), ids, day.simulator)
        }
    }

    /// The UUID in a validation's id, as stored in its row.
    private static func uuid(_ id: String) -> PostgresValue { .text(String(id.dropFirst(6))) }

    private static func replay(_ relay: Relay, _ body: String, key: String? = nil) async throws -> HTTP.Answer {
        try await HTTP.post(
            relay.opsURL + "/ops/validations/replay",
            headers: [
                "Authorization": "Bearer \(key ?? relay.keys.operator)", "Content-Type": "application/json",
            ], body: Data(body.utf8))
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func otherPurchasesContinueAndAReplayRepairsParkedOnes() async throws {
        let emails = ["receipt", "status", "time", "state", "well-1", "well-2"].map { "\($0)@example.test" }
        try await Self.plant(emails) { database, ids in
            func run(_ sql: String, _ id: String) async throws {
                _ = try await database.query(SQL(sql, [Self.uuid(id)]))
            }
            try await run("CREATE TABLE kept AS SELECT * FROM receipts WHERE id::text <> $1", "")
            try await run("DELETE FROM receipts WHERE id = $1::text::uuid", ids[0])
            try await run("UPDATE pursuits SET status = 9 WHERE id = $1::text::uuid", ids[1])
            try await run("UPDATE pursuits SET deadline = 'infinity' WHERE id = $1::text::uuid", ids[2])
            // Its settlement does not find the state that it expects.
            try await run(
                "UPDATE validations SET status = 2, settled_at = now(), reason = 'by hand' WHERE id = $1::text::uuid",
                ids[3])
        } _: { front, worker, ids, simulator in
            for id in ids[4...] { _ = try await front.becomes("granted", id) }
            let parked = try await Awaiting.fact("four are parked") {
                try await front.ops("/ops/validations?parked=true").json["items"].array ?? []
            } holds: {
                $0.count == 4
            }
            #expect(Set(parked.compactMap { $0["validationId"].string }) == Set(ids[..<4]))
            for (id, word) in zip(ids, ["receipt", "status", "deadline", "state"]) {
                let item = try #require(parked.first { $0["validationId"].string == id })
                #expect(item["parked"]["reason"].string?.contains(word) == true, "\(item)")
                #expect(item["parked"]["since"].string.flatMap(Date.init(milliseconds:)) != nil)
                #expect(try await front.detail(id)["parked"] == item["parked"])
                #expect(try await front.timeline(id, "parked").first?["detail"] == item["parked"]["reason"])
            }
            // The app has an answer after the deadline, and lists and counts agree.
            try await front.database.letDeadlinesCome()
            for id in ids[..<3] { #expect(try await front.becomes("timed_out", id)["accessGranted"].bool == false) }
            let timedOut = try await front.ops("/ops/validations?status=timed_out").json["items"].array ?? []
            #expect(Set(timedOut.compactMap { $0["validationId"].string }) == Set(ids[..<3]))
            #expect(timedOut.allSatisfy { !$0["parked"].isNull })
            #expect(try await front.ops("/ops/validations?status=pending").json["items"].array?.isEmpty == true)
            #expect(try await front.ops("/ops/validations?status=granted").json["items"][0]["parked"].isNull)
            let summary = try await front.ops("/ops/summary").json
            #expect(summary["backlog"]["parked"].int == 4)
            #expect(try #require(summary["backlog"]["oldestParkedSeconds"].int) >= 0)
            #expect(summary["countsByStatus"]["pending"].int == 0 && summary["oldestPendingSeconds"].isNull)
            #expect(try await front.metric("relay_parked") == 4)
            #expect(try #require(try await front.metric("relay_oldest_parked_seconds")) > 0)
            #expect(try await worker.metric("relay_pursuits_parked_total") == 4)

            // Purchases that a replay cannot repair are named one by one. The others are sent.
            let look = try await Self.replay(front, #"{"reason":"a look","parked":true,"dryRun":true}"#)
            #expect(look.status == 200 && look.json["matched"].int == 4 && look.json["replayed"].int == 0)
            let first = try await Self.replay(front, #"{"reason":"mended","parked":true,"limit":3}"#)
            #expect(first.status == 202)
            #expect(first.json["matched"].int == 3 && first.json["replayed"].int == 2)
            #expect(first.json["refused"].array?.map { $0["code"].string } == ["receipt_gone"])
            #expect(first.json["refused"][0]["validationId"].string == ids[0])
            let cursor = try #require(first.json["nextCursor"].string)
            let second = try await Self.replay(
                front, "{\"reason\":\"mended\",\"parked\":true,\"limit\":3,\"cursor\":\"\(cursor)\"}")
            #expect(second.json["replayed"].int == 1 && second.json["nextCursor"].isNull)
            for id in ids[1..<4] {
                #expect(try await front.becomes("granted", id)["accessGranted"].bool == true)
                let note = try #require(try await front.timeline(id, "retried").first?["detail"].string)
                #expect(note.contains("mended") && note.contains("test ops-operator"))
            }
            // The receipt is restored, and an operator replays the purchase from a terminal.
            _ = try await front.database.query(
                SQL("INSERT INTO receipts SELECT * FROM kept WHERE id = $1::text::uuid", [Self.uuid(ids[0])]))
            let environment = ["RELAY_DATABASE_URL": front.database.url, "USER": "olga"]
            func command(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.relay(["validations"] + arguments, environment: environment)
            }
            let list = try await command("list", "--parked")
            #expect(list.code == 0 && list.out.count == 2 && list.out[1].contains("the receipt is missing"), "\(list)")
            let dry = try await command("replay", "--parked", "--dry-run")
            #expect(dry.code == 0 && dry.out == ["1 would be sent again"], "\(dry)")
            #expect(
                try await command("replay", "--parked", "--reason", "x", "--until", "2020-01-01").out == [
                    "0 are sent again, 0 are not"
                ])
            #expect(
                try await command(
                    "replay", "--parked", "--reason", "x", "--since", "2020-01-02", "--until", "2020-01-01"
                ).code == 64)
            let run = try await command("replay", "--parked", "--since", "2020-01-01", "--reason", "found again")
            #expect(run.code == 0 && run.out == ["1 are sent again, 0 are not"], "\(run)")
            #expect(try await front.becomes("granted", ids[0])["late"].bool == true)
            #expect(try await front.metric("relay_parked") == 0)
            let note = try #require(try await front.timeline(ids[0], "retried").last?["detail"].string)
            #expect(note.contains("olga") && note.contains("found again"))
        }
    }

    @Test func aPurchaseParkedInItsSettlementIsSentOnce() async throws {
        try await Self.plant(["state@example.test"]) { database, ids in
            _ = try await database.query(
                SQL("UPDATE validations SET status = 2, settled_at = now(), reason = 'by hand'"))
        } _: { front, worker, ids, simulator in
            _ = try await Awaiting.fact("it is parked", of: { try await front.metric("relay_parked") }) { $0 == 1 }
            #expect(try await SimulatorControl(simulator).payments().count == 1)
            // No worker claims or sends it from then on.
            let fence = SQL("SELECT fence FROM pursuits")
            let before = try await front.database.query(fence).first?.get(0, as: Int.self)
            let other = try await front.pursue("well@example.test")
            _ = try await front.becomes("granted", other)
            #expect(try await front.database.query(fence).first?.get(0, as: Int.self) == before)
        }
    }

    @Test func purchasesWithManyStrikesAreProcessedOneByOne() async throws {
        try await Self.plant((0..<6).map { "suspect-\($0)@example.test" }) { database, ids in
            _ = try await database.query(
                SQL(
                    "UPDATE pursuits SET owner = 'a copy that is gone', strikes = 12, fence = 13, due_at = now()"))
        } _: { front, worker, ids, simulator in
            // A purchase without strikes does not wait for them.
            let well = try await front.pursue("well@example.test")
            _ = try await front.becomes("granted", well)
            for id in ids { _ = try await front.becomes("granted", id) }
            #expect(try await SimulatorControl(simulator).payments().count == 7)
            #expect(try await front.metric("relay_parked") == 0)
        }
    }

    @Test func aReplayNeedsAReasonAndASelection() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            for (body, fields) in [
                ("{}", ["reason", "status"]), (#"{"parked":true}"#, ["reason"]), (#"{"reason":"x"}"#, ["status"]),
                (#"{"reason":"x","parked":1}"#, ["parked", "status"]), (#"{"reason":7,"parked":true}"#, ["reason"]),
                (#"{"reason":"x","parked":true,"status":"rejected"}"#, ["status"]),
                (#"{"reason":"x","status":"granted"}"#, ["status"]), (#"{"reason":"x","status":5}"#, ["status"]),
                (#"{"reason":"x","parked":true,"limit":501}"#, ["limit"]),
                (#"{"reason":"x","parked":true,"limit":1.5}"#, ["limit"]),
                (#"{"reason":"x","parked":true,"limit":"5"}"#, ["limit"]),
                (#"{"reason":"x","parked":true,"from":"yesterday","to":1}"#, ["from", "to"]),
                (#"{"reason":"x","parked":true,"cursor":"next","dryRun":"no"}"#, ["cursor", "dryRun"]),
                (#"{"reason":"x","parked":true,"form":"2030-01-01","dry_run":true}"#, ["form", "dry_run"]),
                (#"{"reason":"x","parked":true,"from":"2026-01-02","to":"2026-01-01"}"#, ["to"]),
                ("[]", [""]),
            ] {
                let answer = try await Self.replay(relay, body)
                #expect(answer.status == 422, "\(body)")
                #expect(answer.json["errors"].array?.map { $0["field"].string } == fields, "\(body) \(answer.text)")
            }
            #expect(try await Self.replay(relay, "reason").status == 400)
            for key in [relay.keys.viewer, relay.keys.app] {
                #expect(try await Self.replay(relay, #"{"reason":"x","parked":true}"#, key: key).status == 403)
            }
            #expect(try await relay.ops("/ops/validations?parked=no").status == 422)
            let nothing = try await Self.replay(relay, #"{"reason":"x","status":"rejected","from":"2026-01-01"}"#)
            #expect(nothing.status == 202 && nothing.json["matched"].int == 0 && nothing.json["nextCursor"].isNull)
        }
    }
}
