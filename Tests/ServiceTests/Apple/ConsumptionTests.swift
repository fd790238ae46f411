import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres
import TestRun
import Testing

/// Apple's consumption requests are answered once, and only with the customer's consent.
@Suite struct ConsumptionTests {
    @Test func withConsentItIsAnsweredOnce() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.consent()
            let request = scene.request(life)
            #expect(try await scene.setup.relay.notify(request, signedBy: scene.store).status == 200)
            let answered = try await scene.becomes("answered")
            #expect(answered["applicationUsername"].string == ConsumptionScene.customer)
            #expect(answered["reason"].string == "UNINTENDED_PURCHASE")
            #expect(answered["answer"]["deliveryStatus"].string == "DELIVERED")
            #expect(answered["answer"]["refundPreference"].string == "DECLINE")
            #expect(answered["customerSince"].string != nil)
            let asked = try #require(answered["askedAt"].string.flatMap(Date.init(milliseconds:)))
            let deadline = try #require(answered["deadline"].string.flatMap(Date.init(milliseconds:)))
            #expect(abs(deadline.timeIntervalSince(asked) - 43_200) < 1)
            // Apple repeats a request if the 200 was lost.
            #expect(try await scene.setup.relay.notify(request, signedBy: scene.store).status == 200)
            let told = try await scene.told()
            #expect(told.count == 1)
            #expect(told[0]["transactionId"].string == life.transaction.transactionId)
            // A subscription has no consumption percentage.
            #expect(told[0]["told"]["consumptionPercentage"].int == nil)
            #expect(told[0]["told"]["sampleContentProvided"].bool == false)
            #expect(try await scene.requests().count == 1)
            #expect(try await scene.requests("?state=waiting").isEmpty)
            let metrics = try await scene.setup.relay.metrics()
            #expect(metrics.contains(#"relay_consumption_answers_total{result="answered"} 1"#))
            let listed = try await ChildProcess.run(
                "receipt-relay", ["notifications", "consumption", "--state", "answered", "--json"],
                environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
            #expect(listed.output.joined().contains("DELIVERED"))
        }
    }

    @Test func withoutConsentNothingIsSentToApple() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.say(#"{"customerConsented":false,"refundPreference":"DECLINE"}"#)
            try await scene.ask(life)
            try await scene.becomes("awaits_consent")
            let backlog = try await scene.setup.relay.ops("/ops/summary").json["backlog"]
            #expect(backlog["consumptionWithoutConsent"].int == 1)
            try await scene.letDeadlinesCome()
            let ended = try await scene.becomes("no_consent")
            #expect(ended["endedAt"].string != nil)
            // This consent comes after the deadline.
            try await scene.consent()
            try await Task.sleep(for: .seconds(2))
            #expect(try await scene.told().isEmpty)
            #expect(try await scene.requests()[0]["state"].string == "no_consent")
        }
    }

    @Test func aConsentWithinTheWindowAnswersAtOnce() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.ask(life)
            try await scene.becomes("awaits_consent")
            try await scene.consent()
            try await scene.becomes("answered")
            #expect(try await scene.told().count == 1)
            // A withdrawn consent prevents the next answer.
            try await scene.say(#"{"customerConsented":false}"#)
            try await scene.ask(life)
            try await scene.becomes("awaits_consent")
            #expect(try await scene.told().count == 1)
        }
    }

    @Test(.whole) func anOutageAtAppleIsWaitedOut() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.consent()
            try await scene.api.trouble(#"{"status":503}"#)
            try await scene.ask(life)
            try await Awaiting.fact("it was tried") {
                try await scene.requests().first
            } holds: {
                $0?["state"].string == "waiting" && $0?["lastError"].string == "HTTP 503"
            }
            // Warnings concern only production.
            _ = try await scene.setup.database.query(
                SQL("UPDATE consumption_requests SET deadline = now() + interval '1 hour', environment = 'Production'"))
            let status = try await ChildProcess.run(
                "receipt-relay", ["status"], environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
            #expect(status.output.joined().contains("less than two hours left"), "\(status.output)")
            _ = try await scene.setup.database.query(SQL("UPDATE consumption_requests SET environment = 'Sandbox'"))
            try await scene.api.noTrouble()
            try await scene.hurry()
            let answered = try await scene.becomes("answered")
            #expect(answered["lastError"].string == nil)
            #expect(try await scene.told().count == 1)
        }
    }

    @Test func anAnswerThatMissedTheDeadlineIsReported() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.consent()
            try await scene.api.trouble(#"{"status":500}"#)
            try await scene.ask(life)
            try await Awaiting.fact("it was tried") {
                try await scene.requests().first?["lastError"].string
            } holds: {
                $0 != nil
            }
            try await scene.letDeadlinesCome()
            try await scene.api.noTrouble()
            try await scene.becomes("expired")
            #expect(try await scene.told().isEmpty)
        }
    }

    @Test(.whole) func anAnswerThatAppleRefusesEndsTheRequest() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.consent()
            try await scene.api.trouble(#"{"on":"consumption","status":400,"errorCode":4000185}"#)
            try await scene.ask(life)
            let refused = try await scene.becomes("refused")
            #expect(refused["lastError"].string == "HTTP 400, code 4000185")
            #expect(refused["answer"]["customerConsented"].bool == true)
        }
    }

    /// Whether the call took effect is unknown, so it is sent again.
    @Test(.whole) func aCopyThatDiesHasItsRequestAnsweredByAnother() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            try await scene.consent()
            try await scene.api.trouble(#"{"hang":true,"times":1}"#)
            try await scene.ask(life)
            try await Awaiting.fact("it is being sent", is: true) {
                try await scene.api.requests().contains { $0["path"].string?.contains("consumption") == true }
            }
            let other = try await Relay.start(
                database: scene.setup.database, simulator: scene.setup.simulator, keys: scene.setup.relay.keys,
                settings: scene.settings)
            scene.setup.relay.process.signal(SIGKILL)
            try await scene.hurry()
            try await scene.becomes("answered", at: other)
            #expect(try await scene.told().count == 1)
            await other.end()
        }
    }

    @Test(.whole) func ofTwoCopiesOneAnswersEach() async throws {
        try await ConsumptionScene.run { scene in
            let other = try await Relay.start(
                database: scene.setup.database, simulator: scene.setup.simulator, keys: scene.setup.relay.keys,
                settings: scene.settings)
            let life = try await scene.buy()
            try await scene.consent()
            for _ in 0..<12 { try await scene.ask(life) }
            try await Awaiting.fact("all are answered", is: 12, within: .seconds(60)) {
                try await scene.requests("?state=answered").count
            }
            #expect(try await scene.told().count == 12)
            await other.end()
        }
    }

    @Test func thePublishersStatementIsReadBackAndErased() async throws {
        try await ConsumptionScene.run { scene in
            let path = "/v2/customers/ana@example.test/consumption?appName=main&apiKey=\(scene.publisherKey)"
            let nothing = try await HTTP.get(scene.setup.relay.url + path)
            #expect(nothing.json["customerConsented"].bool == false, "\(nothing.text)")
            let life = try await scene.buy()
            try await scene.consent()
            let kept = try await HTTP.get(scene.setup.relay.url + path)
            #expect(kept.json["consumptionPercentage"].int == 50_000)
            #expect(kept.json["userStatus"].string == "ACTIVE")
            try await scene.ask(life)
            try await scene.becomes("answered")
            let environment = ["RELAY_DATABASE_URL": scene.setup.database.url]
            let exported = try await ChildProcess.run(
                "receipt-relay", ["customers", "export", ConsumptionScene.customer], environment: environment)
            let export = try JSON(data: Data(exported.output.joined(separator: "\n").utf8))
            #expect(export["consumption"][0]["facts"]["refundPreference"].string == "DECLINE")
            #expect(export["consumptionRequests"][0]["state"].string == "answered")
            let erased = try await ChildProcess.run(
                "receipt-relay", ["customers", "erase", ConsumptionScene.customer, "--reason", "they asked"],
                environment: environment)
            #expect(erased.code == 0, "\(erased.output)")
            #expect(try await HTTP.get(scene.setup.relay.url + path).json["customerConsented"].bool == false)
            #expect(try await scene.requests()[0]["applicationUsername"].string == nil)
        }
    }

    /// Ben now has Ana's subscription. She has consented, and he has not. Then he is erased.
    @Test func aFormerOwnersConsentDoesNotCount() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            let second = try await scene.setup.relay.purchase(try scene.store.purchase(life, email: "ben@example.test"))
            let id = try #require(second.json["validationId"].string, "\(second.text)")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await scene.consent()
            try await scene.ask(life)
            #expect(try await scene.becomes("awaits_consent")["applicationUsername"].string == "ben@example.test")
            let erased = try await ChildProcess.run(
                "receipt-relay", ["customers", "erase", "ben@example.test", "--reason", "they asked"],
                environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
            #expect(erased.code == 0, "\(erased.output)")
            try await scene.hurry()
            let ended = try await scene.becomes("no_consent")
            #expect(ended["applicationUsername"].isNull)
            #expect(try await scene.told().isEmpty)
        }
    }

    /// Retention has dropped its validation, but a running subscription counts as delivered.
    @Test(.whole) func aRunningSubscriptionCountsAsDelivered() async throws {
        try await ConsumptionScene.run { scene in
            let life = try await scene.buy()
            _ = try await scene.setup.database.query("DELETE FROM validations")
            try await scene.consent()
            try await scene.ask(life)
            let answer = try await scene.becomes("answered")["answer"]
            #expect(answer["deliveryStatus"].string == "DELIVERED", "\(answer)")
        }
    }

    private static let wrong = [
        "{}", #"{"customerConsented":true,"consumptionPercentage":100001}"#, #"{"customerConsented":"yes"}"#,
        #"{"customerConsented":true,"consumptionPercentage":100000,"refundPreference":"GRANT_PRORATED"}"#,
        #"{"customerConsented":true,"refundPreference":"MAYBE"}"#, #"{"customerConsented":true,"unknown":1}"#,
    ]

    @Test(arguments: TestRun.all(wrong, otherwise: 2)) func whatIsWrongIsRefused(body: String) async throws {
        try await ConsumptionScene.run { scene in
            let answer = try await scene.say(body)
            #expect(answer.status == 422, "\(answer.text)")
            #expect(answer.json["ok"].bool == false)
            #expect(try await scene.say(#"{"customerConsented":true}"#, key: "none").status == 401)
        }
    }
}
