import Foundation
import RelayCore
import StoreSignals
import Testing

@Suite("Messages of SNS")
struct SNSMessageTests {
    private static let notification = [
        "Type": "Notification", "MessageId": "22b80b92", "TopicArn": "arn:aws:sns:us-east-1:123456789012:example",
        "Message": "{\"a\":\n1}", "Timestamp": "2026-11-25T10:00:00.655Z",
        "SigningCertURL":
            "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
    ]
    private static let signed = ["Message", "MessageId", "Timestamp", "TopicArn", "Type"]
    private static let confirmation = notification.merging([
        "Type": "SubscriptionConfirmation", "Token": "2336412f37",
        "SubscribeURL": "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37",
    ]) { $1 }
    private static let signedOfConfirmation = [
        "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
    ]

    @Test("are genuine where their key has signed them, by either version", arguments: ["1", "2"])
    func genuine(version: String) throws {
        let key = try SNSKey()
        let certificate = try SNSCertificate(pem: key.pem)
        func verify(_ members: [String: String], _ signed: [String]) throws -> Bool {
            certificate.verifies(try SNSMessage(body: key.body(members, signing: signed, version: version)))
        }
        #expect(try verify(Self.notification, Self.signed))
        let titled = Self.notification.merging(["Subject": "renewed"]) { $1 }
        #expect(try verify(titled, ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]))
        #expect(try !verify(titled, Self.signed))
        #expect(try verify(Self.confirmation, Self.signedOfConfirmation))
        let ended = Self.confirmation.merging(["Type": "UnsubscribeConfirmation"]) { $1 }
        #expect(try verify(ended, Self.signedOfConfirmation))
        #expect(try !verify(ended, Self.signed))
    }

    @Test("are forged where anything signed is another", arguments: signed + ["Signature", "SignatureVersion"])
    func forged(member: String) throws {
        let key = try SNSKey()
        let body = try key.body(Self.notification, signing: Self.signed)
        var members = try JSONDecoder().decode([String: String].self, from: Data(body))
        switch member {
        case "TopicArn": members[member] = "arn:aws:sns:us-east-1:999999999999:example"
        case "Timestamp": members[member] = "2026-11-25T10:00:01.655Z"
        case "Type":
            members = members.merging(["Type": "SubscriptionConfirmation", "Token": "t", "SubscribeURL": "u"]) { $1 }
        case "SignatureVersion": members[member] = "2"
        default: members[member, default: ""] += "x"
        }
        let message = try SNSMessage(body: Array(try JSONEncoder().encode(members)))
        #expect(try !SNSCertificate(pem: key.pem).verifies(message))
        #expect(try !SNSCertificate(pem: SNSKey().pem).verifies(SNSMessage(body: body)))
    }

    @Test("have one line in every member but the message: two texts of one signature would be two messages")
    func lines() throws {
        for member in ["MessageId", "Timestamp", "TopicArn"] {
            var members = Self.notification
            members[member, default: ""] += "\nType"
            let body = Array(try JSONEncoder().encode(members))
            #expect(throws: SignalError.self) { try SNSMessage(body: body) }
        }
        for member in ["Token", "SubscribeURL"] {
            var members = Self.confirmation
            members[member, default: ""] += "\n"
            let body = Array(try JSONEncoder().encode(members))
            #expect(throws: SignalError.self) { try SNSMessage(body: body) }
        }
    }

    @Test(
        "are told from all else",
        arguments: [
            "", "{", "[]", "null", "{}", #"{"Type":"Notification"}"#, #"{"Type":1,"MessageId":[],"Message":{}}"#,
            #"{"Type":"Other","MessageId":"1","TopicArn":"arn:aws:sns:us-east-1:123456789012:t","Message":"","Timestamp":"2026-11-25T10:00:00Z"}"#,
            #"{"Type":"Notification","MessageId":"1","TopicArn":"t","Message":"","Timestamp":"2026-11-25T10:00:00Z"}"#,
            #"{"Type":"Notification","MessageId":"1","TopicArn":"arn:aws:sns:us-east-1:123456789012:t","Message":"","Timestamp":"soon"}"#,
        ])
    func others(body: String) {
        #expect(throws: SignalError.self) { try SNSMessage(body: Array(body.utf8)) }
    }

    @Test("have a certificate only for its time")
    func validity() throws {
        let certificate = try SNSCertificate(pem: SNSKey().pem)
        #expect(certificate.isValid(at: Timestamp(seconds: 1_750_000_000)))
        #expect(!certificate.isValid(at: Timestamp(seconds: 1_650_000_000)))
        #expect(!certificate.isValid(at: Timestamp(seconds: 1_850_000_000)))
        for text in ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            #expect(throws: SignalError.self) { try SNSCertificate(pem: text) }
        }
    }

    @Test("have their certificate at SNS in the topic's region alone")
    func addresses() throws {
        let file = "/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem"
        let topic = try #require(SNSTopic("arn:aws:sns:us-east-1:123456789012:example"))
        let standard = try [#require(SNSHostPattern("sns.*.amazonaws.com"))]
        func isTaken(_ url: String, _ hosts: [SNSHostPattern]) -> Bool {
            SNSCertificateAddress(url, of: topic, hosts: hosts) != nil
        }
        #expect(isTaken("https://sns.us-east-1.amazonaws.com\(file)", standard))
        for url in [
            "http://sns.us-east-1.amazonaws.com\(file)", "https://sns.eu-west-1.amazonaws.com\(file)",
            "https://sns.us-east-1.amazonaws.com.example.com\(file)", "https://sns.us-east-1.amazonaws.com:8443\(file)",
            "https://a@sns.us-east-1.amazonaws.com\(file)", "https://example.com/sns.us-east-1.amazonaws.com\(file)",
            "https://sns.us-east-1.amazonaws.com/other.pem", "https://sns.us-east-1.amazonaws.com\(file)?a",
            "https://sns.us-east-1.amazonaws.com/a/..\(file)", "https://sns.us-east-1.amazonaws.com\(file)\n", "",
            "https://SNS.us-east-1.amazonaws.com\(file)", "https://sns.x.us-east-1.amazonaws.com\(file)",
        ] {
            #expect(!isTaken(url, standard), "\(url)")
        }
        let one = try [#require(SNSHostPattern("certificates.example.com"))]
        #expect(isTaken("https://certificates.example.com\(file)", one))
        for text in ["*.*.com", "sns*.com", "a b", "", "https://a.com", "*", "a.com/", "A.com", "a..com", ".a"] {
            #expect(SNSHostPattern(text) == nil, "\(text)")
        }
    }

    @Test("come by topics")
    func topics() {
        #expect(SNSTopic("arn:aws:sns:us-east-1:123456789012:example")?.host == "sns.us-east-1.amazonaws.com")
        #expect(SNSTopic("arn:aws-cn:sns:cn-north-1:123456789012:t")?.host == "sns.cn-north-1.amazonaws.com.cn")
        for arn in [
            "", "arn:aws:sqs:us-east-1:123456789012:t", "arn:aws:sns:us-east-1:12345:t",
            "arn:aws:sns:us-east-1.evil.com/:123456789012:t", "arn:aws:sns:us-east-1:123456789012:t:sub",
            "arn:aws:sns:us-east-1:123456789012:", "arn:aws:sns:us-east-1:123456789012:\u{212A}",
        ] {
            #expect(SNSTopic(arn) == nil, "\(arn)")
        }
    }
}

@Suite("Amazon's notifications")
struct AmazonNotificationTests {
    private func read(_ message: String, _ more: [String: String] = [:]) throws -> StoreNotification {
        let members = [
            "Type": "Notification", "MessageId": "22b80b92", "TopicArn": "arn:aws:sns:us-east-1:123456789012:example",
            "Message": message, "Timestamp": "2026-11-25T10:00:00.655Z",
        ].merging(more) { $1 }
        return AmazonNotification.read(try SNSMessage(body: Array(try JSONEncoder().encode(members))))
    }

    @Test("are read whatever they are about")
    func kinds() throws {
        let renewed = try read(
            #"{"receiptId":"r:3:11","relatedReceipts":{},"appUserId":"u","notificationType":"SUBSCRIPTION_RENEWED","appPackageName":"com.example.app","timestamp":1600701569824,"betaProductTransaction":false}"#
        )
        #expect(renewed.store == .amazon && renewed.type == "SUBSCRIPTION_RENEWED" && renewed.uuid == "22b80b92")
        #expect(renewed.originalTransactionID == "amazon:r:3:11" && renewed.bundleID == "u")
        #expect(renewed.app == "com.example.app" && renewed.related.isEmpty && renewed.environment == .unknown)
        #expect(renewed.saidAt == Timestamp(microseconds: 1_600_701_569_824_000) && renewed.statement == nil)
        #expect(renewed.topic?.state == .confirmed)
        let changed = try read(
            #"{"receiptId":"new","relatedReceipts":{"cancelledReceiptId":"old"},"appUserId":"u","notificationType":"SUBSCRIPTION_MODIFIED_IMMEDIATE"}"#
        )
        #expect(changed.related == ["amazon:old"])
        #expect(changed.saidAt == Timestamp(external: "2026-11-25T10:00:00.655Z"))
        for text in ["Somebody tries it out.", "[]", #"{"receiptId":{}}"#, ""] {
            let unknown = try read(text)
            #expect(unknown.type == "UNKNOWN" && unknown.originalTransactionID == nil, "\(text)")
        }
        let long = String(repeating: "x", count: 1_025)
        #expect(try read(#"{"receiptId":"\#(long)","notificationType":"X"}"#).originalTransactionID == nil)
    }

    @Test("say how the subscription to their topic stands")
    func confirmations() throws {
        let more = ["Token": "t", "SubscribeURL": "https://example.com"]
        let asks = try read("Please", more.merging(["Type": "SubscriptionConfirmation"]) { $1 })
        #expect(asks.topic?.state == .unconfirmed && asks.type == "SubscriptionConfirmation")
        #expect(asks.originalTransactionID == nil && asks.identity == "amazon\n22b80b92")
        let ended = try read("Bye", more.merging(["Type": "UnsubscribeConfirmation"]) { $1 })
        #expect(ended.topic?.state == .ended)
    }
}
