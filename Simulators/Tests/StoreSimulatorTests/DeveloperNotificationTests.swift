import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct DeveloperNotificationTests {
    private let ms = Int64(TestAccount.now.timeIntervalSince1970 * 1_000)

    /// The notifications that are to be sent now.
    private func sent(_ bench: GoogleBench) -> [String] {
        bench.attempts().compactMap { attempt in
            guard case .notification(let json) = attempt.delivery.message.content.payload else { return nil }
            return String(decoding: json, as: UTF8.self)
        }
    }

    @Test func theyHaveGooglesFields() throws {
        let bench = try GoogleBench.pushing()
        let head = #""eventTimeMillis":"\#(ms)","#
        try bench.control("PUT", "subscriptions/s", #"{"orderId":"GPA.1","packageName":"com.example.one"}"#)
        try bench.control("PUT", "products/p", #"{"orderId":"GPA.2","packageName":"com.example.two"}"#)
        try bench.control("POST", "subscriptions/s/refund")
        try bench.control("POST", "products/p/refund")
        #expect(
            sent(bench) == [
                #"{\#(head)"packageName":"com.example.one","subscriptionNotification":{"notificationType":4,"#
                    + #""purchaseToken":"s","subscriptionId":"gold","version":"1.0"},"version":"1.0"}"#,
                #"{\#(head)"oneTimeProductNotification":{"notificationType":1,"purchaseToken":"p","sku":"film","#
                    + #""version":"1.0"},"packageName":"com.example.two","version":"1.0"}"#,
                #"{\#(head)"packageName":"com.example.one","subscriptionNotification":{"notificationType":12,"#
                    + #""purchaseToken":"s","subscriptionId":"gold","version":"1.0"},"version":"1.0"}"#,
                #"{\#(head)"packageName":"com.example.one","version":"1.0","voidedPurchaseNotification":{"#
                    + #""orderId":"GPA.1","productType":1,"purchaseToken":"s","refundType":1}}"#,
                #"{\#(head)"packageName":"com.example.two","version":"1.0","voidedPurchaseNotification":{"#
                    + #""orderId":"GPA.2","productType":2,"purchaseToken":"p","refundType":1}}"#,
            ])
    }

    @Test(arguments: [
        ("ACTIVE", "renew", ["SUBSCRIPTION_RENEWED"]), ("CANCELED", "renew", ["SUBSCRIPTION_RESTARTED"]),
        ("ON_HOLD", "renew", ["SUBSCRIPTION_RECOVERED"]), ("IN_GRACE_PERIOD", "renew", ["SUBSCRIPTION_RECOVERED"]),
        ("PAUSED", "renew", ["SUBSCRIPTION_RECOVERED"]), ("EXPIRED", "renew", ["SUBSCRIPTION_RENEWED"]),
        ("PENDING", "renew", ["SUBSCRIPTION_PURCHASED"]), ("ACTIVE", "cancel", ["SUBSCRIPTION_CANCELED"]),
        ("ACTIVE", "expire", ["SUBSCRIPTION_EXPIRED"]), ("ACTIVE", "grace", ["SUBSCRIPTION_IN_GRACE_PERIOD"]),
        ("ACTIVE", "hold", ["SUBSCRIPTION_ON_HOLD"]), ("ACTIVE", "pause", ["SUBSCRIPTION_PAUSED"]),
        ("ACTIVE", "refund", ["SUBSCRIPTION_REVOKED", "VOIDED_PURCHASE"]), ("EXPIRED", "refund", ["VOIDED_PURCHASE"]),
        ("ACTIVE", "forget", []),
    ]) func actsPublish(state: String, act: String, types: [String]) throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/s", #"{"state":"\#(state)"}"#)
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/push"}"#)
        try bench.control("POST", "subscriptions/s/\(act)")
        #expect(try bench.types() == types)
    }

    @Test func aRefundThatLeavesTheAccessRevokesNothingAndASecondOneVoidsNothing() throws {
        let bench = try GoogleBench.pushing()
        try bench.control("PUT", "subscriptions/s", "{}")
        #expect(try bench.types() == ["SUBSCRIPTION_PURCHASED"])
        try bench.control("POST", "subscriptions/s/refund", #"{"revoke":false}"#)
        #expect(try bench.types() == ["VOIDED_PURCHASE"])
        try bench.control("POST", "subscriptions/s/refund")
        #expect(try bench.types() == ["SUBSCRIPTION_REVOKED"])
        try bench.control("POST", "subscriptions/s/refund")
        #expect(try bench.types() == [])
    }

    @Test func aPurchaseIsPublishedOnceItIsPaidAndAReplacedStateIsNot() throws {
        let bench = try GoogleBench.pushing()
        func types(_ path: String, _ states: [String]) throws -> [[String]] {
            try states.map { state in
                try bench.control("PUT", path, state)
                return try bench.types()
            }
        }
        let pending = #"{"state":"PENDING"}"#
        #expect(try types("subscriptions/a", ["{}", "{}"]) == [["SUBSCRIPTION_PURCHASED"], []])
        #expect(try types("subscriptions/b", [pending, pending, "{}"]) == [[], [], ["SUBSCRIPTION_PURCHASED"]])
        #expect(
            try types("subscriptions/c", [pending, #"{"state":"PENDING_PURCHASE_CANCELED"}"#])
                == [[], ["SUBSCRIPTION_PENDING_PURCHASE_CANCELED"]])
        #expect(try types("products/a", ["{}", "{}"]) == [["ONE_TIME_PRODUCT_PURCHASED"], []])
        #expect(
            try types("products/b", [#"{"purchaseState":2}"#, "{}"]) == [[], ["ONE_TIME_PRODUCT_PURCHASED"]])
        #expect(
            try types("products/c", [#"{"purchaseState":2}"#, #"{"purchaseState":1}"#])
                == [[], ["ONE_TIME_PRODUCT_CANCELED"]])
    }

    @Test func anyObjectIsSentWithWhatIsMissing() throws {
        let bench = try GoogleBench.pushing()
        for notification in [
            #"{"testNotification":{}}"#, #"{"version":"2","packageName":"x","eventTimeMillis":"7"}"#,
            #"{"subscriptionNotification":{"notificationType":99,"purchaseToken":"t","version":"3"},"new":[1,true]}"#,
        ] {
            try bench.control("POST", "notifications", #"{"notification":\#(notification)}"#)
        }
        let head = #""eventTimeMillis":"\#(ms)""#
        #expect(
            sent(bench) == [
                #"{\#(head),"packageName":"com.example.app","testNotification":{"version":"1.0"},"version":"1.0"}"#,
                #"{"eventTimeMillis":"7","packageName":"x","version":"2"}"#,
                #"{\#(head),"new":[1,true],"packageName":"com.example.app","subscriptionNotification":{"#
                    + #""notificationType":99,"purchaseToken":"t","version":"3"},"version":"1.0"}"#,
            ])
        #expect(try bench.messages().map { $0["token"] as? String } == [nil, nil, "t"])
        #expect(try bench.types() == ["TEST", "UNKNOWN", "SUBSCRIPTION_99"])
    }

    @Test func whatCannotBeSentIsRefused() throws {
        let bench = try GoogleBench.pushing()
        for body in [
            "{}", #"{"notification":1}"#, #"{"notification":{},"raw":"x"}"#, #"{"raw":1}"#,
            #"{"raw":"x","forge":"y"}"#, #"{"row":"x"}"#,
        ] {
            #expect(throws: ControlFault.self, "\(body)") { try bench.control("POST", "notifications", body) }
        }
        #expect(try bench.types() == [])
    }

    @Test func withoutAnAddressNothingIsPublished() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/s", "{}")
        try bench.control("POST", "subscriptions/s/refund")
        #expect(try bench.types() == [])
        #expect(throws: ControlFault.self) { try bench.control("GET", "push") }
        #expect(throws: ControlFault.self) { try bench.control("POST", "notifications", #"{"raw":"x"}"#) }
        for body in ["{}", #"{"url":"ftp://x"}"#, #"{"url":"http://"}"#, #"{"url":"http://x","mail":"y"}"#] {
            #expect(throws: ControlFault.self, "\(body)") { try bench.control("PUT", "push", body) }
        }
    }
}
