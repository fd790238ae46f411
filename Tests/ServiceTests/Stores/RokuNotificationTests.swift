import Foundation
import NIOHTTP1
import TestRun
import Testing

/// Tests of `POST /roku/notifications` of the whole service, called by the simulated Roku.
@Suite struct RokuNotificationTests {
    @Test(arguments: ["signed", "unsigned"]) func aRefundEndsAccessAndARenewalGoesOn(form: String) async throws {
        try await RokuScene.run(form: form) { scene in
            let id = try await scene.buy("o1")
            try await scene.settled()
            try await scene.roku.act("refund", "o1")
            _ = try await scene.setup.relay.becomes("revoked", id)
            // Anybody may send an unsigned refund, so it is none.
            let status = form == "signed" ? "revoked" : "expired"
            try await Awaiting.fact("it is over for that reason", is: status) {
                try await scene.subscription("o1")["status"].string
            }
            try await Awaiting.fact("all are kept", is: ["Sale", "Refund", "Cancellation"]) {
                Set(try await scene.notifications(of: "o1").compactMap { $0["type"].string })
            }
            let one = try #require(try await scene.notifications(of: "o1").first)
            #expect(one["store"].string == "roku" && one["environment"].string == "unknown")
            try await scene.roku.act("renew", "o1")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await scene.settled()
        }
    }

    private static let forgeries = [
        ("signature", "signature"), ("issuer", "issuer"), ("key", "signature"), ("expired", "expired"),
        ("early", "expired"), ("tampered", "signature"), ("algorithm", "algorithm"), ("jku", "signature"),
    ]

    @Test(arguments: TestRun.all(forgeries, otherwise: 2))
    func aForgedOneIsRefusedAndCounted(_ forgery: String, _ word: String) async throws {
        try await RokuScene.run { scene in
            try await scene.roku.control(
                .POST, "notifications",
                #"{"message":{"transactionType":"Cancellation","transactionId":"c","originalTransactionId":"o1"},"forge":"\#(forgery)"}"#
            )
            try await Awaiting.fact("it was refused", of: { try await scene.counted(word) }, holds: { $0 > 0 })
            // It is counted before Roku has the answer.
            try await Awaiting.fact("Roku has the answer", is: 403) {
                try await scene.roku.control(.GET, "notifications").json["items"][0]["lastStatus"].int
            }
            let sent = try await scene.roku.control(.GET, "notifications").json["items"][0]
            #expect(sent["delivered"].bool == false, "\(sent)")
            #expect(try await scene.notifications().isEmpty)
        }
    }

    @Test func whatIsNoTransactionIsKeptAndWhatIsNoNotificationIsRefused() async throws {
        try await RokuScene.run { scene in
            for body in ["", "{", "[]", "no token", "a.b.c", #"{"transactionType":"Sale"}"#] {
                #expect(try await scene.deliver(body).status == 400, "\(body)")
            }
            #expect(try await scene.notifications().isEmpty)
            for message in [#""Somebody tries it out.""#, #"{"transactionType":"OfNextYear"}"#] {
                try await scene.roku.control(.POST, "notifications", #"{"message":\#(message)}"#)
            }
            try await Awaiting.fact("both are kept", is: ["UNKNOWN", "OfNextYear"]) {
                Set(try await scene.notifications().compactMap { $0["type"].string })
            }
        }
    }

    private static func unsigned(_ type: String, of id: String, responseKey: String = "key-1") -> String {
        #"{"transactionType":"\#(type)","transactionId":"\#(id)","originalTransactionId":"\#(id)","responseKey":"\#(responseKey)","eventDate":"2026-01-01T00:00:00.3142198Z","email":"nobody@example.test","firstName":"Nobody"}"#
    }

    @Test func theAnswerIsTheResponseKeyAndStrangersAskAboutNothing() async throws {
        try await RokuScene.run { scene in
            let before = try await scene.roku.questions()
            for _ in 0..<2 {
                let answer = try await scene.deliver(Self.unsigned("Sale", of: "stranger"))
                #expect(answer.status == 200 && answer.text == "key-1")
                #expect(answer.header("content-type") == "text/plain")
                #expect(answer.header("ApiKey") == nil)
            }
            let counts = (stored: try await scene.counted("stored"), repeated: try await scene.counted("repeated"))
            #expect(counts.stored == 1 && counts.repeated == 1)
            #expect(try await scene.waiting() == 0)
            #expect(try await scene.roku.questions() == before)
            let kept = try #require(try await scene.notifications(of: "stranger").first?["id"].string)
            let shown = try await scene.setup.relay.ops("/ops/notifications/\(kept)").text
            #expect(!shown.contains("nobody@example.test") && !shown.contains("Nobody"))
            try await scene.setup.relay.process.says("is answered without the API key")
        }
    }

    @Test(.whole) func theUnsignedFormCanBeRefused() async throws {
        try await RokuScene.run(["RELAY_ROKU_UNSIGNED": "refuse"]) { scene in
            let answer = try await scene.deliver(Self.unsigned("Sale", of: "o1"))
            #expect(answer.status == 403)
            #expect(try await scene.counted("unsigned") == 1)
            #expect(try await scene.notifications().isEmpty)
        }
    }

    @Test(.whole) func rokuAcceptsTheAPIKeyInTheAnswer() async throws {
        try await RokuScene.run(["RELAY_ROKU_UNSIGNED": "answer-key"], form: "unsigned") { scene in
            try await scene.push("unsigned", requiresAPIKey: true)
            try await scene.buy("o1")
            try await scene.settled()
            try await scene.push("signed")
            try await scene.roku.act("renew", "o1")
            try await scene.settled()
        }
    }

    @Test func theKeyIsInNoLogAndNoMetric() async throws {
        try await RokuScene.run(["RELAY_LOG_LEVEL": "trace"]) { scene in
            try await scene.buy("o1")
            try await scene.roku.trouble(#"{"status":503}"#)
            try await scene.roku.act("cancel", "o1")
            try await scene.roku.control(.DELETE, "trouble")
            try await scene.settled()
            #expect(!scene.setup.relay.process.output.contains { $0.contains("SECRET") })
            #expect(!(try await scene.setup.relay.metrics()).contains("SECRET"))
        }
    }

    @Test(.whole) func withoutAKeyTheRouteIsNotThere() async throws {
        try await Setup.run { setup in
            let answer = try await HTTP.post(
                setup.relay.url + "/roku/notifications", headers: [:], body: Data("{}".utf8))
            #expect(answer.status == 404)
        }
    }

    /// Sends the notifications of the same lives first once and in order, then shuffled and duplicated.
    @Test(.whole, arguments: [UInt64.random(in: 1...1_000_000)])
    func theOrderAndTheNumberOfNotificationsChangeNothing(seed: UInt64) async throws {
        try await RokuScene.run { scene in
            let lives = 20
            for number in 0..<lives {
                for kind in ["ordered", "shuffled"] {
                    try await scene.buy("\(kind)-\(number)", by: "\(kind)\(number)@example.test")
                }
            }
            try await scene.settled()
            var random = RandomLives(seed: seed)
            let plans = (0..<lives).map { _ in
                random.life(of: 26, ["renew", "cancel", "grace", "hold", "expire", "refund"])
            }
            var released = 0
            for kind in ["ordered", "shuffled"] {
                // In two parts, so that the store is also asked before the last notification.
                for part in [0..<13, 13..<26] {
                    try await scene.roku.control(
                        .PUT, "delivery", #"{"hold":true,"duplicate":\#(kind == "shuffled" ? 1 : 0)}"#)
                    for (number, plan) in plans.enumerated() {
                        for act in plan[part] {
                            try await scene.roku.act(act, "\(kind)-\(number)")
                        }
                    }
                    let answer = try await scene.roku.control(
                        .POST, "delivery/release", #"{"shuffle":\#(kind == "shuffled"),"seed":\#(seed)}"#)
                    if kind == "shuffled" { released += answer.json["released"].int ?? 0 }
                    try await scene.settled()
                }
            }
            #expect(released >= 1_000)
            for number in 0..<lives {
                let one = try await scene.subscription("ordered-\(number)")
                let other = try await scene.subscription("shuffled-\(number)")
                for field in ["status", "willRenew", "productId"] {
                    #expect("\(one[field])" == "\(other[field])", "seed \(seed), \(plans[number])")
                }
            }
        }
    }

    @Test func anUpgradeTakesItsCustomerAlong() async throws {
        try await RokuScene.run { scene in
            let id = try await scene.buy("o1")
            try await scene.settled()
            try await scene.roku.act(
                "upgrade", "o1", #"{"transactionId":"o2","until":"2031-01-02T03:04:05.000Z"}"#)
            try await Awaiting.fact("the new subscription is Ana's", is: "ana@example.test") {
                try await scene.subscription("o2")["customerEmail"].string
            }
            try await scene.settled()
            let poll = try await scene.setup.relay.becomes("granted", id)
            #expect(poll["expiresAt"].string == "2031-01-02T03:04:05.000Z", "\(poll)")
            try await scene.roku.act("refund", "o2")
            _ = try await scene.setup.relay.becomes("revoked", id)
        }
    }

    /// Roku has no list of refunded purchases.
    @Test func aLostRefundIsFound() async throws {
        try await RokuScene.run(["RELAY_STORE_RECHECK_SECONDS": "10"]) { scene in
            let id = try await scene.buy("o1")
            try await scene.settled()
            try await scene.roku.control(.PUT, "delivery", #"{"lose":2}"#)
            try await scene.roku.act("refund", "o1")
            #expect(try await scene.roku.control(.GET, "delivery").json["lose"].int == 0)
            _ = try await scene.setup.relay.becomes("revoked", id)
        }
    }
}
