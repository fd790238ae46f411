import Foundation
import RelayCore
import StoreSignals

/// Notifications that the other stores send.
extension FuzzTarget {
    static let storeSignals = FuzzTarget(
        "store-signals",
        seeds: [
            #"{"subscriptionNotification":{"version":"1.0","notificationType":4,"purchaseToken":"t"}}"#,
            #"{"oneTimeProductNotification":{"notificationType":"1","purchaseToken":"t","sku":"film"}}"#,
            #"{"voidedPurchaseNotification":{"purchaseToken":"t","orderId":"GPA.1","productType":1,"refundType":1}}"#,
        ].map { told in
            let whole =
                #"{"version":"1.0","packageName":"com.example.app","eventTimeMillis":"1767323045000",\#(told.dropFirst())"#
            let data = Data(whole.utf8).base64EncodedString()
            return Array(#"{"message":{"data":"\#(data)","messageId":"1"},"subscription":"s"}"#.utf8)
        }
    ) { bytes in
        // Input as a whole push, and as a push's content: changes inside Base64 are seldom readable.
        let wrapped = Array(#"{"message":{"data":"\#(Data(bytes).base64EncodedString())","messageId":"1"}}"#.utf8)
        for body in [bytes, wrapped] {
            guard let found = try? GoogleNotification(body: body).notification else { continue }
            try check(found)
        }
    }

    static let amazonSignals = FuzzTarget(
        "amazon-signals",
        seeds: [
            #"{"receiptId":"r","appUserId":"u","notificationType":"SUBSCRIPTION_MODIFIED_IMMEDIATE","appPackageName":"com.example.app","relatedReceipts":{"cancelledReceiptId":"o"},"timestamp":1767323045000}"#
        ].map { snsMessage($0) } + [
            Array(
                #"{"Type":"SubscriptionConfirmation","MessageId":"m","TopicArn":"\#(snsTopic)","Message":"w","Timestamp":"2026-01-02T03:04:05.678Z","Token":"t","SubscribeURL":"https://sns.us-east-1.amazonaws.com/","SignatureVersion":"2","Signature":"AAAA","SigningCertURL":"https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"}"#
                    .utf8)
        ]
    ) { bytes in
        // Input as an SNS message, and as the payload that Amazon publishes in one.
        for body in [bytes, snsMessage(String(decoding: bytes, as: UTF8.self))] {
            _ = AmazonNotification.payload(of: body)
            guard let message = try? SNSMessage(body: body) else { continue }
            _ = SNSCertificateAddress(
                message.certificateURL, of: message.topic,
                hosts: ["sns.*.amazonaws.com"].compactMap(SNSHostPattern.init))
            try check(AmazonNotification.read(message))
        }
        _ = try? SNSCertificate(pem: String(decoding: bytes, as: UTF8.self))
    }

    private static let snsTopic = "arn:aws:sns:us-east-1:123456789012:example"

    private static func snsMessage(_ text: String) -> [UInt8] {
        let fields = [
            "Type": "Notification", "MessageId": "m", "TopicArn": snsTopic, "Message": text,
            "Timestamp": "2026-01-02T03:04:05.678Z", "SignatureVersion": "1", "Signature": "AAAA",
            "SigningCertURL":
                "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
        ]
        return (try? JSONEncoder().encode(fields)).map { Array($0) } ?? []
    }

    static let rokuSignals = FuzzTarget(
        "roku-signals",
        seeds: [
            Array(
                #"{"transactionType":"Sale","transactionId":"t","originalTransactionId":"o","channelId":"1","eventDate":"2024-02-03T11:27:16Z","expirationDate":"2024-03-03T02:51:33Z","responseKey":"k"}"#
                    .utf8),
            Array("eyJhbGciOiJSUzI1NiJ9.eyJ4LVJva3UtbWVzc2FnZSI6ImUzMCJ9.c2ln".utf8),
        ]
    ) { bytes in
        // Input as a body, as the claims of a signed one, and as its message: changes inside Base64 are seldom
        // readable.
        func token(_ claims: [UInt8]) -> [UInt8] {
            let text = Data(claims).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            return Array("e30.\(text.replacing("=", with: "")).c2ln".utf8)
        }
        let message = Array(
            #"{"x-Roku-message":"\#(Data(bytes).base64EncodedString())","x-Roku-message-key":"1"}"#.utf8)
        for body in [bytes, token(bytes), token(message)] {
            _ = RokuNotification.payload(of: body)
            guard let found = try? RokuNotification(body: body).notification else { continue }
            try check(found)
        }
    }

    private static func check(_ found: StoreNotification) throws {
        try FuzzFinding.check(found.saidAt)
        for key in found.related + (found.originalTransactionID.map { [$0] } ?? []) {
            guard key.text.utf8.count <= 2_048, !key.text.utf8.contains(0) else {
                throw FuzzFinding(what: "a key of \(key.text.utf8.count) bytes")
            }
        }
    }
}
