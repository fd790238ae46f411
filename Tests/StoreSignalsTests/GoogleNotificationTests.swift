import Foundation
import RelayCore
import StoreSignals
import Testing

@Suite("Google's notifications")
struct GoogleNotificationTests {
    /// A body in the form of a Pub/Sub push.
    private func push(
        _ told: String, messageID: String = "136969346945", subscription: String = "projects/p/subscriptions/s"
    )
        -> [UInt8]
    {
        let data = Data(told.utf8).base64EncodedString()
        return Array(
            #"{"message":{"attributes":{},"data":"\#(data)","messageId":"\#(messageID)","publishTime":"2026-11-25T10:00:00Z"},"subscription":"\#(subscription)"}"#
                .utf8)
    }

    private func read(_ members: String) throws -> StoreNotification {
        let told = #"{"version":"1.0","packageName":"com.example.app","eventTimeMillis":"1503349566168",\#(members)}"#
        return try GoogleNotification(body: push(told)).notification
    }

    @Test("are read whatever they are about")
    func kinds() throws {
        let renewed = try read(
            #""subscriptionNotification":{"version":"1.0","notificationType":2,"purchaseToken":"t-1"}"#)
        #expect(renewed.store == .google && renewed.type == "SUBSCRIPTION_RENEWED" && renewed.uuid == "136969346945")
        #expect(renewed.originalTransactionID == "google:t-1" && renewed.bundleID == "com.example.app")
        #expect(renewed.saidAt == Timestamp(microseconds: 1_503_349_566_168_000) && renewed.environment == .unknown)
        #expect(renewed.statement == nil && renewed.productID == nil)
        let product = try read(
            #""oneTimeProductNotification":{"notificationType":1,"purchaseToken":"t-2","sku":"film"}"#)
        #expect(product.type == "ONE_TIME_PRODUCT_PURCHASED" && product.productID == "film")
        let voided = try read(
            #""voidedPurchaseNotification":{"purchaseToken":"t-3","orderId":"GPA.1","productType":1,"refundType":1}"#)
        #expect(voided.type == "VOIDED_PURCHASE" && voided.originalTransactionID == "google:t-3")
        #expect(voided.refund == LedgerRefund(order: "GPA.1", at: Timestamp(microseconds: 1_503_349_566_168_000)))
        // Some of several equal products.
        let partly = try read(
            #""voidedPurchaseNotification":{"purchaseToken":"t-3","orderId":"GPA.1","productType":2,"refundType":2}"#)
        #expect(partly.type == "VOIDED_PURCHASE" && partly.refund == nil)
        let revoked = try read(#""subscriptionNotification":{"notificationType":12,"purchaseToken":"t-1"}"#)
        #expect(try revoked.refund == LedgerRefund(order: nil, at: #require(revoked.saidAt)))
        #expect(renewed.refund == nil)
        let review = try read(#""pendingRefundReviewNotification":{"pendingRefundToken":"x","orderId":"GPA.1"}"#)
        #expect(review.type == "PENDING_REFUND_REVIEW" && review.originalTransactionID == nil)
        let notice = try #require(review.notice)
        #expect(notice.hasPrefix(#"{"store":"google","type":"PENDING_REFUND_REVIEW","#))
        #expect(notice.hasSuffix(#""pendingRefundReview":{"orderId":"GPA.1","pendingRefundToken":"x"}}"#))
        #expect(try read(#""testNotification":{"version":"1.0"}"#).type == "TEST")
        #expect(try read(#""ofNextYear":{}"#).type == "UNKNOWN")
        #expect(try read(#""subscriptionNotification":{"notificationType":99}"#).type == "SUBSCRIPTION_TYPE_99")
        // A number instead of a text of digits, and a text instead of a number.
        let loose = try GoogleNotification(
            body: push(
                #"{"packageName":"com.example.app","eventTimeMillis":1503349566168,"subscriptionNotification":{"notificationType":"3"}}"#
            )
        ).notification
        #expect(loose.saidAt == renewed.saidAt && loose.type == "SUBSCRIPTION_CANCELED")
    }

    @Test("are one where message and subscription are the same")
    func identity() throws {
        let told = #"{"packageName":"com.example.app","testNotification":{}}"#
        func identity(_ message: String, _ subscription: String) throws -> String {
            try GoogleNotification(body: push(told, messageID: message, subscription: subscription)).notification
                .identity
        }
        #expect(try identity("1", "a") == identity("1", "a"))
        #expect(try identity("1", "a") != identity("2", "a"))
        #expect(try identity("1", "a") != identity("1", "b"))
    }

    @Test(
        "are told from all else",
        arguments: [
            "", "{", "[]", "null", #"{"message":{}}"#, #"{"message":{"messageId":"1","data":"%"}}"#,
            #"{"message":{"messageId":"1","data":"e30="}}"#, #"{"message":{"messageId":"1"}}"#,
            #"{"message":{"messageId":"a\u0000b","data":"e30="}}"#,
        ])
    func others(body: String) {
        #expect(throws: SignalError.self) { try GoogleNotification(body: Array(body.utf8)) }
    }

    @Test("have no token that no key could hold")
    func hostileTokens() throws {
        for token in [String(repeating: "x", count: 1_025), "a\\u0000b", ""] {
            let one = try read(#""subscriptionNotification":{"notificationType":2,"purchaseToken":"\#(token)"}"#)
            #expect(one.originalTransactionID == nil && one.type == "SUBSCRIPTION_RENEWED")
        }
    }

    @Test("are written of what the sweep finds, the same each time")
    func swept() throws {
        func body(_ order: String) throws -> [UInt8] {
            try SweptPurchase.body(
                packageName: "com.example.app", purchaseToken: #"t"1"#, orderID: order,
                voidedAt: Timestamp(seconds: 1_700_000_000), reason: "1", publisher: "main")
        }
        let found = try GoogleNotification(body: body("GPA.1")).notification
        #expect(found.type == "VOIDED_PURCHASE" && found.originalTransactionID == #"google:t"1"#)
        #expect(found.saidAt == Timestamp(seconds: 1_700_000_000))
        #expect(
            found.refund == LedgerRefund(order: "GPA.1", at: Timestamp(seconds: 1_700_000_000), reason: .customer))
        #expect(try GoogleNotification(body: body("")).notification.refund?.order == nil)
        #expect(try GoogleNotification(body: body("GPA.1")).notification.identity == found.identity)
        #expect(try GoogleNotification(body: body("GPA.2")).notification.identity != found.identity)
    }
}
