import Foundation
import NIOHTTP1
import TestRun
import Testing

/// Tests of `POST /amazon/notifications` of the whole service, called by the simulated SNS.
@Suite struct AmazonNotificationTests {
    @Test(arguments: ["1", "2"]) func aRefundEndsAccessAndARenewalGoesOn(version: String) async throws {
        try await AmazonScene.run { scene in
            try await scene.push(to: scene.setup.relay, isConfirmed: true, version: version)
            let id = try await scene.buy("receipt-1")
            try await scene.settled()
            try await scene.amazon.act("refund", "receipt-1")
            _ = try await scene.setup.relay.becomes("revoked", id)
            #expect(try await scene.subscription("receipt-1")["status"].string == "revoked")
            try await Awaiting.fact("both are kept", is: ["SUBSCRIPTION_PURCHASED", "SUBSCRIPTION_CANCELLED"]) {
                Set(try await scene.notifications(of: "receipt-1").compactMap { $0["type"].string })
            }
            let one = try #require(try await scene.notifications(of: "receipt-1").first)
            #expect(one["store"].string == "amazon" && one["environment"].string == "unknown")
            try await scene.amazon.act("renew", "receipt-1")
            _ = try await scene.setup.relay.becomes("granted", id)
            try await scene.settled()
            #expect(try await scene.topic()["state"].string == "confirmed")
        }
    }

    private static let forgeries = [
        ("signature", "signature"), ("certificate", "certificate"), ("none", "signature"), ("topic", "topic"),
        ("tampered", "signature"),
    ]

    @Test(arguments: TestRun.all(forgeries, otherwise: 2))
    func aForgedOneIsRefusedAndCounted(_ forgery: String, _ word: String) async throws {
        try await AmazonScene.run { scene in
            try await scene.amazon.control(
                .POST, "notifications",
                #"{"message":{"notificationType":"SUBSCRIPTION_CANCELLED","receiptId":"r","appUserId":"user-1"},"forge":"\#(forgery)"}"#
            )
            try await Awaiting.fact("it was refused", of: { try await scene.counted(word) }, holds: { $0 > 0 })
            let sent = try await scene.amazon.control(.GET, "notifications").json["items"][0]
            #expect(sent["lastStatus"].int == 403 && sent["delivered"].bool == false, "\(sent)")
            #expect(try await scene.notifications().isEmpty)
        }
    }

    @Test func whatIsNoMessageIsRefusedAndWhatIsUnknownIsKept() async throws {
        try await AmazonScene.run { scene in
            for raw in ["{", "[]", #"{\"Type\":\"Notification\"}"#] {
                try await scene.amazon.control(.POST, "notifications", #"{"raw":"\#(raw)"}"#)
            }
            try await Awaiting.fact("all are refused", is: [400, 400, 400]) {
                try await scene.amazon.control(.GET, "notifications").json["items"].array?.compactMap {
                    $0["lastStatus"].int
                }
            }
            #expect(try await scene.notifications().isEmpty)
            for message in [#""Somebody tries it out.""#, #"{"notificationType":"OF_NEXT_YEAR"}"#] {
                try await scene.amazon.control(.POST, "notifications", #"{"message":\#(message)}"#)
            }
            try await Awaiting.fact("both are kept", is: ["UNKNOWN", "OF_NEXT_YEAR"]) {
                Set(try await scene.notifications().compactMap { $0["type"].string })
            }
        }
    }

    /// No app posts the new receipt, but access continues with it.
    @Test func aReceiptTakesThePlaceOfAnother() async throws {
        try await AmazonScene.run { scene in
            let id = try await scene.buy("receipt-1")
            try await scene.settled()
            try await scene.amazon.control(.PUT, "delivery", #"{"lose":2}"#)
            try await scene.amazon.act("expire", "receipt-1")
            try await scene.amazon.has("receipt-2", #"{"renewalDate":"2031-01-02T03:04:05Z"}"#)
            #expect(try await scene.amazon.control(.GET, "delivery").json["lose"].int == 0)
            try await scene.amazon.control(
                .POST, "notifications",
                #"{"message":{"notificationType":"SUBSCRIPTION_MODIFIED_IMMEDIATE","receiptId":"receipt-2","appUserId":"user-1","relatedReceipts":{"cancelledReceiptId":"receipt-1"}}}"#
            )
            try await Awaiting.fact("the new receipt is Ana's", is: "ana@example.test") {
                try await scene.subscription("receipt-2")["customerEmail"].string
            }
            try await scene.settled()
            let poll = try await scene.setup.relay.becomes("granted", id)
            #expect(poll["expiresAt"].string == "2031-01-02T03:04:05.000Z", "\(poll)")
            try await scene.amazon.act("refund", "receipt-2")
            _ = try await scene.setup.relay.becomes("revoked", id)
        }
    }

    @Test func withoutItsSettingsTheRouteIsNotThere() async throws {
        try await Setup.run { setup in
            let answer = try await HTTP.post(
                setup.relay.url + "/amazon/notifications", headers: [:], body: Data("{}".utf8))
            #expect(answer.status == 404)
        }
    }

    /// The certificate's host is fixed, and addresses in internal networks are never called.
    @Test func noCertificateIsFetchedFromInside() async throws {
        try await AmazonScene.run(
            [
                "RELAY_AMAZON_SNS_CERT_FILE": nil, "RELAY_AMAZON_SNS_CERT_HOSTS": "localhost",
                "RELAY_WEBHOOK_ALLOW_NETWORKS": nil,
            ]
        ) { scene in
            let message =
                #"{"Type":"Notification","MessageId":"m-1","TopicArn":"\#(OtherStores.topic)","Message":"{}","Timestamp":"2026-11-25T10:00:00.000Z","SignatureVersion":"1","Signature":"AAAA","SigningCertURL":"https://localhost/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"}"#
            let answer = try await HTTP.post(
                scene.setup.relay.url + "/amazon/notifications", headers: [:], body: Data(message.utf8))
            #expect(answer.status == 503)
            #expect(!answer.text.contains("127.0.0.1"))
            try await scene.setup.relay.process.says("is in a range")
            #expect(try await scene.counted("failed") == 1)
        }
    }

    /// Sends the notifications of the same lives first once and in order, then shuffled and duplicated.
    @Test(.whole, arguments: [UInt64.random(in: 1...1_000_000)])
    func theOrderAndTheNumberOfNotificationsChangeNothing(seed: UInt64) async throws {
        try await AmazonScene.run { scene in
            let lives = 25
            for number in 0..<lives {
                for kind in ["ordered", "shuffled"] {
                    try await scene.buy("\(kind)-\(number)", by: "\(kind)\(number)@example.test")
                }
            }
            try await scene.settled()
            var random = RandomLives(seed: seed)
            let plans = (0..<lives).map { _ in random.life(of: 20, ["renew", "cancel", "grace", "expire", "refund"]) }
            var released = 0
            for kind in ["ordered", "shuffled"] {
                // In two parts, so that the store is also asked before the last notification.
                for part in [0..<10, 10..<20] {
                    try await scene.amazon.control(
                        .PUT, "delivery", #"{"hold":true,"duplicate":\#(kind == "shuffled" ? 1 : 0)}"#)
                    for (number, plan) in plans.enumerated() {
                        for act in plan[part] {
                            try await scene.amazon.act(act, "\(kind)-\(number)")
                        }
                    }
                    let answer = try await scene.amazon.control(
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

    /// Amazon has no list of refunded purchases.
    @Test func aLostRefundIsFound() async throws {
        try await AmazonScene.run(["RELAY_STORE_RECHECK_SECONDS": "10"]) { scene in
            let id = try await scene.buy("receipt-1")
            let film = try await scene.buy(
                "receipt-2", #"{"productType":"ENTITLED","productId":"film"}"#, by: "cleo@example.test")
            try await scene.settled()
            try await scene.amazon.control(.PUT, "delivery", #"{"lose":2}"#)
            try await scene.amazon.act("refund", "receipt-1")
            try await scene.amazon.act("refund", "receipt-2")
            #expect(try await scene.amazon.control(.GET, "delivery").json["lose"].int == 0)
            _ = try await scene.setup.relay.becomes("revoked", id)
            _ = try await scene.setup.relay.becomes("revoked", film)
        }
    }
}
