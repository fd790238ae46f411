import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct SNSSubscriptionTests {
    /// Has an unconfirmed subscription.
    private func subscribed() throws -> (bench: AmazonBench, confirmation: SNSMessage) {
        let bench = try AmazonBench()
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/push"}"#)
        return (bench, try #require(try bench.sent().first))
    }

    private func isConfirmed(_ bench: AmazonBench) throws -> Bool? {
        try bench.control("GET", "push").json["confirmed"] as? Bool
    }

    @Test func notificationsWaitForTheConfirmation() throws {
        let (bench, confirmation) = try subscribed()
        try bench.control("PUT", "subscriptions/r", "{}")
        #expect(bench.attempts().isEmpty)
        #expect(try isConfirmed(bench) == false)
        let address = try #require(confirmation["SubscribeURL"])
        let parts = try #require(URLComponents(string: address))
        #expect(address.hasPrefix("http://simulator:8093/sns/confirm?"))
        let answer = try #require(bench.confirm(parts.query ?? ""))
        #expect(
            answer.status == 200 && answer.text.contains("<SubscriptionArn>arn:aws:sns:us-east-1:123456789012:example:")
        )
        #expect(try isConfirmed(bench) == true)
        #expect(try bench.sent().map { $0["Type"] } == ["Notification"])
        #expect(bench.confirm(parts.query ?? "")?.status == 200, "a repeated one")
    }

    @Test func aConfirmationWithoutTheTokenOfTheTopicIsRefused() throws {
        let (bench, confirmation) = try subscribed()
        let token = try #require(confirmation["Token"])
        let topic = SNSSettings.exampleTopic
        for query in [
            "", "Action=ConfirmSubscription&TopicArn=\(topic)", "Action=ConfirmSubscription&Token=\(token)",
            "Action=ConfirmSubscription&TopicArn=\(topic)&Token=x", "TopicArn=\(topic)&Token=\(token)",
        ] {
            #expect(bench.confirm(query)?.status == 400, "\(query)")
        }
        #expect(try isConfirmed(bench) == false)
        #expect(bench.confirm("Action=ConfirmSubscription&TopicArn=\(topic)&Token=\(token)")?.status == 200)
        #expect(try bench.control("GET", "requests").text.contains(token) == false)
    }

    @Test func aSubscriptionIsConfirmedByControl() throws {
        let (bench, _) = try subscribed()
        try bench.control("PUT", "subscriptions/r", "{}")
        #expect(try bench.control("POST", "push/confirm").status == 204)
        #expect(try isConfirmed(bench) == true && bench.attempts().count == 1)
        #expect(try bench.control("GET", "push/confirm").status == 405)
        try bench.control("DELETE", "push")
        #expect(throws: ControlFault.self) { try bench.control("POST", "push/confirm") }
    }

    @Test func onlyANewAddressOrTopicIsConfirmedAgain() throws {
        let bench = try AmazonBench.pushing()
        #expect(try bench.types() == [], "confirmed from the start")
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/push","signatureVersion":"2"}"#)
        #expect(try bench.types() == [])
        #expect(try isConfirmed(bench) == true)
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/other"}"#)
        let first = try #require(try bench.sent().first)
        try bench.control("PUT", "push", #"{"topic":"arn:aws:sns:us-east-1:1:other"}"#)
        let second = try #require(try bench.sent().first)
        #expect(try bench.types() == ["SubscriptionConfirmation", "SubscriptionConfirmation"])
        #expect(second["TopicArn"] == "arn:aws:sns:us-east-1:1:other" && first["Token"] != second["Token"])
        #expect(try isConfirmed(bench) == false)
        let old = "Action=ConfirmSubscription&TopicArn=arn:aws:sns:us-east-1:1:other&Token=\(first["Token"] ?? "")"
        #expect(bench.confirm(old)?.status == 400)
        try bench.control("PUT", "push", #"{"confirmed":true}"#)
        #expect(try isConfirmed(bench) == true)
    }

    @Test func aRequestToConfirmIsTriedAgainUntilAnotherReplacesIt() throws {
        let bench = try AmazonBench()
        try bench.control("PUT", "delivery", #"{"lose":5,"hold":true,"duplicate":3}"#)
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/a"}"#)
        let first = try #require(bench.attempts().first)
        #expect(bench.end(first, 503) == .milliseconds(100))
        let again = bench.attempts()
        #expect(again.map(\.delivery.message.id) == [first.delivery.message.id])
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/b"}"#)
        _ = bench.end(again[0], 503)
        let attempts = bench.attempts()
        #expect(attempts.map(\.settings.url) == ["http://127.0.0.1:9/b"])
        #expect(attempts[0].delivery.message.id != first.delivery.message.id)
        #expect(bench.end(attempts[0], 403) == nil && bench.attempts().isEmpty)
    }

    @Test(
        arguments: [
            (200, true, false), (204, true, false), (302, false, false), (400, false, false), (403, false, false),
            (404, false, false), (429, false, true), (500, false, true), (503, false, true), (nil, false, true),
        ] as [(Int?, Bool, Bool)])
    func theseStatusesAreFinal(status: Int?, isDelivered: Bool, isTriedAgain: Bool) throws {
        let bench = try AmazonBench.pushing()
        try bench.control("PUT", "subscriptions/r", "{}")
        let pause = bench.end(try #require(bench.attempts().first), status)
        #expect((pause != nil) == isTriedAgain && bench.attempts().isEmpty != isTriedAgain)
        #expect(try bench.messages().first?["delivered"] as? Bool == isDelivered)
    }

    @Test func pausesGrowUntilItIsGivenUp() throws {
        let bench = try AmazonBench.pushing()
        try bench.control("PUT", "subscriptions/r", "{}")
        var pauses: [Duration] = []
        while let attempt = bench.attempts().first, let pause = bench.end(attempt, 500) { pauses.append(pause) }
        #expect(
            Array(pauses.prefix(8)) == [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000].map(Duration.milliseconds))
        #expect(pauses.count == 49 && bench.attempts().isEmpty && SimulatedSNS.rules.timeoutSeconds == 15)
    }

    @Test(
        arguments: [
            ("{}", "renew", "SUBSCRIPTION_RENEWED"), ("{}", "cancel", "SUBSCRIPTION_AUTO_RENEWAL_OFF"),
            ("{}", "expire", "SUBSCRIPTION_EXPIRED"), ("{}", "refund", "SUBSCRIPTION_CANCELLED"),
            ("{}", "grace", "SUBSCRIPTION_IN_GRACE_PERIOD"), ("{}", "forget", nil),
            (#"{"gracePeriodEndDate":"2026-10-01T00:00:00Z"}"#, "renew", "SUBSCRIPTION_OUT_OF_GRACE_PERIOD"),
            (#"{"productType":"ENTITLED"}"#, "refund", "ENTITLEMENT_CANCELLED"),
            (#"{"productType":"CONSUMABLE"}"#, "refund", "CONSUMABLE_CANCELLED"),
            (#"{"productType":"ENTITLED"}"#, "expire", nil),
        ] as [(String, String, String?)])
    func actsPublish(purchase: String, act: String, type: String?) throws {
        let bench = try AmazonBench()
        try bench.control("PUT", "subscriptions/r", purchase)
        #expect(try bench.types() == [], "push is off")
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/push","confirmed":true}"#)
        try bench.control("POST", "subscriptions/r/\(act)")
        #expect(try bench.types() == [type].compactMap { $0 })
    }

    @Test func aNewPurchasePublishesAndAReplacedOneDoesNot() throws {
        let bench = try AmazonBench.pushing()
        for (receipt, type) in [("a", "SUBSCRIPTION"), ("b", "ENTITLED"), ("c", "CONSUMABLE")] {
            for _ in 0..<2 { try bench.control("PUT", "subscriptions/\(receipt)", #"{"productType":"\#(type)"}"#) }
        }
        #expect(try bench.types() == ["SUBSCRIPTION_PURCHASED", "ENTITLEMENT_PURCHASED", "CONSUMABLE_PURCHASED"])
    }

    @Test func settingsTakeNoSlipOfThePen() throws {
        let bench = try AmazonBench()
        for body in [
            "{}", #"{"url":"ftp://x"}"#, #"{"url":"http://x","topic":"example"}"#,
            #"{"url":"http://x","audience":"y"}"#,
            #"{"url":"http://x","topic":"arn:aws:sns::1:t"}"#, #"{"url":"http://x","topic":"arn:aws:sns:a/b:1:t"}"#,
            #"{"url":"http://x","signatureVersion":"3"}"#, #"{"url":"http://x","signatureVersion":2}"#,
        ] {
            #expect(throws: ControlFault.self, "\(body)") { try bench.control("PUT", "push", body) }
        }
        #expect(throws: ControlFault.self) { try bench.control("GET", "push") }
    }
}
