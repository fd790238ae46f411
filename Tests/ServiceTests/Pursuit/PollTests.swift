import Foundation
import NIOHTTP1
import Postgres
import Testing

/// Answers of `GET /entitlements/{id}`, and the keys that may read them.
@Suite struct PollTests {
    private static let fields: Set = [
        "validationId", "status", "accessGranted", "offerId", "reason", "receivedAt", "settledAt", "deadline", "late",
        "expiresAt",
    ]

    @Test func everyStatusHasTheFieldsOfTheContract() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let original = TestPurchase.newTransactionID()
            let pending = try await relay.pursue("pia+never@example.test")
            let early = try await relay.poll(pending)
            #expect(early.status == 200)
            #expect(early.header("Content-Type") == "application/json")
            #expect(early.header("Retry-After") == "1")
            #expect(early.json.keys == Self.fields)
            #expect(early.json["validationId"].string == pending)
            #expect(early.json["status"].string == "pending")
            #expect(early.json["accessGranted"].bool == false)
            #expect(early.json["offerId"].string == "S123456789_US")
            #expect(early.json["settledAt"].isNull && early.json["reason"].isNull && early.json["expiresAt"].isNull)
            #expect(early.json["late"].bool == false)
            let receivedAt = try #require(early.json["receivedAt"].string.flatMap(Date.init(milliseconds:)))
            let deadline = try #require(early.json["deadline"].string.flatMap(Date.init(milliseconds:)))
            #expect(abs(deadline.timeIntervalSince(receivedAt) - 300) < 0.002)

            let first = try await relay.pursue("ana@example.test", original: original)
            let granted = try await relay.becomes("granted", first)
            #expect(granted.keys == Self.fields)
            #expect(granted["accessGranted"].bool == true)
            #expect(granted["settledAt"].string.flatMap(Date.init(milliseconds:)) != nil)
            #expect(granted["expiresAt"].string.flatMap(Date.init(milliseconds:)).map { $0 > .now } == true)

            let rejected = try await relay.becomes("rejected", try await relay.pursue("rea+reject@example.test"))
            #expect(rejected.keys == Self.fields)
            #expect(rejected["accessGranted"].bool == false)
            #expect(rejected["reason"].string?.isEmpty == false)

            _ = try await relay.becomes(
                "granted", try await relay.pursue("bea@example.test", original: original))
            let transferred = try await relay.poll(first)
            #expect(transferred.json["status"].string == "transferred")
            #expect(transferred.json["accessGranted"].bool == false)
            #expect(transferred.header("Retry-After") == nil)

            // This test is about the answer to a revocation, not about its cause. The ledger worker runs first, because
            // it would grant the validation again.
            let refunded = try await relay.pursue("cia@example.test")
            _ = try await relay.becomes("granted", refunded)
            try await Awaiting.fact("every ledger has been looked at", is: 0) {
                try await setup.database.query(SQL("SELECT count(*) FROM ledgers WHERE state IS NULL"))[0]
                    .get(
                        0, as: Int64.self)
            }
            _ = try await setup.database.query(
                SQL(
                    """
                    WITH ended AS (
                        UPDATE validations SET status = 5, reason = 'refunded', settled_at = now()
                        WHERE email = $1 RETURNING bucket, accepted_on, id
                    )
                    INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance)
                    SELECT bucket, accepted_on, id, 1000, 0, now(), 5, 'test' FROM ended
                    """,
                    [.text("cia@example.test")]))
            let revoked = try await Awaiting.fact("another process's word is heard") {
                try await relay.poll(refunded)
            } holds: {
                $0.json["status"].string == "revoked"
            }
            #expect(revoked.json.keys == Self.fields)
            #expect(revoked.json["status"].string == "revoked")
            #expect(revoked.json["reason"].string == "refunded")
            #expect(revoked.json["accessGranted"].bool == false)
            #expect(revoked.header("Retry-After") == nil)

            try await setup.database.letDeadlinesCome()
            let timedOut = try await relay.becomes("timed_out", pending)
            #expect(timedOut.keys == Self.fields)
            #expect(timedOut["accessGranted"].bool == false)
            #expect(timedOut["late"].bool == false)
            #expect(try await relay.poll(pending).header("Retry-After") == nil)
        }
    }

    @Test func anIDGivesOtherKeysNoAccess() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let id = try await relay.pursue("ana+never@example.test")
            let ours = try await Relay.makeKey("app", setup.database)
            let otherApp = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let otherPublisher = try await Relay.makeKey("app", setup.database, publisher: "second")
            // The relay looks up an unknown key at most once a second.
            try await Awaiting.fact("the new keys are known", is: Set([404])) {
                var statuses: Set<Int> = []
                for key in [ours, otherApp, otherPublisher] {
                    statuses.insert(try await relay.poll("0", key: key).status)
                }
                return statuses
            }
            #expect(try await relay.poll(id, key: ours).status == 200)
            var answers: [HTTP.Answer] = []
            for key in [otherApp, otherPublisher] {
                answers.append(try await relay.poll(id, key: key))
                answers.append(try await relay.poll(id, wait: 5, key: key))
                answers.append(try await relay.poll(id, key: key, headers: ["Accept": "text/event-stream"]))
            }
            let last = try #require(id.last)
            let neighbour = id.dropLast() + (last == "0" ? "1" : "0")
            for unknown in [String(neighbour), "0", "nothing", String(repeating: "f", count: 38)] {
                answers.append(try await relay.poll(unknown))
            }
            for answer in answers {
                #expect(answer.status == 404)
                #expect(answer.header("Content-Type") == "application/problem+json")
                #expect(answer.json["code"].string == "unknown_validation")
                #expect(answer.json["status"].int == 404)
            }
            // Another app's id and an unknown id have the same answer.
            #expect(answers.first?.json["detail"] == answers.last?.json["detail"])

            #expect(try await relay.poll(id, key: relay.keys.viewer).status == 403)
            let nobody = try await relay.poll(id, key: "rk_nobody")
            #expect(nobody.status == 401)
            #expect(nobody.header("WWW-Authenticate") != nil)
            #expect(try await HTTP.get(relay.url + "/entitlements/\(id)").status == 401)
        }
    }

    @Test func anUnchangedAnswerIsNotSentAgain() async throws {
        try await Setup.run(grantAfter: 1, settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let id = try await relay.pursue("ana@example.test")
            let first = try await relay.poll(id)
            let tag = try #require(first.header("ETag"))
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
            let same = try await relay.poll(id, headers: ["If-None-Match": "\"other\", W/\(tag)"])
            #expect(same.status == 304)
            #expect(same.body.isEmpty)
            #expect(same.header("ETag") == tag)
            #expect(same.header("Retry-After") == "1")
            #expect(try await relay.poll(id, headers: ["If-None-Match": "\"other\""]).status == 200)

            let head = try await HTTP.call(
                .HEAD, relay.url + "/entitlements/\(id)", headers: ["Authorization": "Bearer \(relay.keys.app)"])
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.header("ETag") == tag)
            #expect(head.header("Content-Type") == "application/json")
            #expect(head.header("Content-Length") == "\(first.body.count)")

            _ = try await relay.becomes("granted", id)
            let changed = try await relay.poll(id, headers: ["If-None-Match": tag])
            #expect(changed.status == 200)
            #expect(changed.json["status"].string == "granted")
            let newTag = try #require(changed.header("ETag"))
            #expect(newTag != tag)
            let still = try await relay.poll(id, headers: ["If-None-Match": newTag])
            #expect(still.status == 304)
            #expect(still.header("Retry-After") == nil)
        }
    }
}
