import Foundation
import SwiftASN1
import Testing
import X509

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct SNSMessageTests {
    private func certificate() throws -> String { try AmazonBench.key.certificate }

    private func send(_ bench: AmazonBench, _ rest: String = "") throws -> SNSMessage {
        try bench.control("POST", "notifications", #"{"message":{"receiptId":"r"}\#(rest)}"#)
        return try #require(try bench.sent().first)
    }

    @Test func aNotificationHasTheFieldsOfSNSAndIsSigned() throws {
        let bench = try AmazonBench.pushing()
        try bench.control("PUT", "subscriptions/r%3D1%3A3", #"{"userId":"u","betaProduct":true}"#)
        let message = try #require(try bench.sent().first)
        let topic = "arn:aws:sns:us-east-1:123456789012:example"
        #expect(message["Type"] == "Notification" && message["TopicArn"] == topic)
        #expect(message["MessageId"] == (try bench.messages().first?["messageId"] as? String))
        #expect(message["Timestamp"] == "2026-09-21T14:13:20.000Z" && message["SignatureVersion"] == "1")
        #expect(
            message["SigningCertURL"]
                == "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem")
        #expect(
            message["UnsubscribeURL"]?.hasPrefix(
                "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=\(topic):") == true)
        #expect(message.fields.count == 9)
        #expect(try message.isSigned(by: certificate()))
        #expect(
            message["Message"]
                == #"{"appPackageName":"com.example.app","appUserId":"u","betaProductTransaction":true,"#
                + #""notificationType":"SUBSCRIPTION_PURCHASED","receiptId":"r=1:3","relatedReceipts":{},"#
                + #""timestamp":1790000000000}"#)
    }

    @Test func theSecondVersionSignsWithSHA256() throws {
        let bench = try AmazonBench.pushing()
        try bench.control("PUT", "push", #"{"signatureVersion":"2"}"#)
        let message = try send(bench)
        #expect(message["SignatureVersion"] == "2")
        #expect(try message.isSigned(by: certificate()))
        try bench.control("PUT", "push", #"{"signatureVersion":"1"}"#)
        #expect(try send(bench)["SignatureVersion"] == "1")
    }

    @Test func theRegionOfTheTopicDecidesTheHost() throws {
        let bench = try AmazonBench.pushing()
        for (partition, region, host) in [
            ("aws", "eu-west-1", "sns.eu-west-1.amazonaws.com"),
            ("aws-cn", "cn-north-1", "sns.cn-north-1.amazonaws.com.cn"),
        ] {
            let topic = "arn:\(partition):sns:\(region):1:t"
            try bench.control("PUT", "push", #"{"topic":"\#(topic)","confirmed":true}"#)
            let message = try send(bench)
            #expect(message["TopicArn"] == topic)
            #expect(message["SigningCertURL"]?.hasPrefix("https://\(host)/SimpleNotificationService-") == true)
        }
    }

    @Test func aForgeryIsWrongInOneThing() throws {
        let bench = try AmazonBench.pushing()
        func forged(_ forgery: String) throws -> (fields: Set<String>, message: SNSMessage) {
            let good = try send(bench)
            let bad = try send(bench, #","forge":"\#(forgery)""#)
            #expect(try bench.messages().last?["forged"] as? Bool == true)
            let names = Set(good.fields.keys).union(bad.fields.keys).subtracting(["MessageId"])
            return (names.filter { good[$0] != bad[$0] }, bad)
        }
        let unsigned = try forged("none")
        #expect(unsigned.fields == ["Signature"] && unsigned.message["Signature"] == nil)
        let impostor = try forged("signature")
        #expect(impostor.fields == ["Signature"])
        #expect(try !impostor.message.isSigned(by: certificate()))
        let foreign = try forged("topic")
        #expect(foreign.fields == ["Signature", "TopicArn"])
        #expect(foreign.message["TopicArn"] == "arn:aws:sns:us-east-1:999999999999:example")
        #expect(try foreign.message.isSigned(by: certificate()))
        let elsewhere = try forged("certificate")
        #expect(elsewhere.fields == ["Signature", "SigningCertURL"])
        #expect(
            elsewhere.message["SigningCertURL"]?.hasPrefix("https://sns.us-east-1.amazonaws.com.example.com/") == true)
        #expect(try elsewhere.message.isSigned(by: certificate()))
        let tampered = try forged("tampered")
        #expect(tampered.fields == ["Signature", "Message"] && !tampered.message.notification.isEmpty)
        #expect(try !tampered.message.isSigned(by: certificate()))
    }

    @Test func anyMessageIsSent() throws {
        let bench = try AmazonBench.pushing()
        for body in [
            #"{"message":{"notificationType":"NEW_TYPE","receiptId":"r","timestamp":7,"relatedReceipts":[]}}"#,
            #"{"message":"no JSON"}"#, #"{"raw":"nothing at all"}"#,
        ] {
            try bench.control("POST", "notifications", body)
        }
        let requests = try bench.attempts().map { try SimulatedSNS.request($0, at: bench.now) }
        let first = SNSMessage(requests[0].body)
        #expect(
            first["Message"]
                == #"{"appPackageName":"com.example.app","betaProductTransaction":false,"#
                + #""notificationType":"NEW_TYPE","receiptId":"r","relatedReceipts":[],"timestamp":7}"#)
        let second = SNSMessage(requests[1].body)
        #expect(second["Message"] == "no JSON")
        #expect(try second.isSigned(by: certificate()))
        #expect(String(decoding: requests[2].body, as: UTF8.self) == "nothing at all")
        #expect(try bench.messages().map { $0["token"] as? String } == ["r", nil, nil])
        #expect(try bench.types() == ["NEW_TYPE", "UNKNOWN", "RAW"])
        for body in [
            "{}", #"{"message":1}"#, #"{"message":{},"raw":"x"}"#, #"{"raw":"x","forge":"none"}"#,
            #"{"message":{},"forge":"audience"}"#, #"{"notification":{}}"#,
        ] {
            #expect(throws: ControlFault.self, "\(body)") { try bench.control("POST", "notifications", body) }
        }
        #expect(try bench.types() == [])
    }

    @Test func theCertificateIsSNSsAndValidForAYear() throws {
        let certificate = try Certificate(pemEncoded: certificate())
        #expect(certificate.subject.description == "CN=sns.amazonaws.com" && certificate.issuer == certificate.subject)
        #expect(certificate.publicKey.isValidSignature(certificate.signature, for: certificate))
        #expect(certificate.notValidBefore == TestAccount.now.addingTimeInterval(-3_600))
        #expect(certificate.notValidAfter == TestAccount.now.addingTimeInterval(365 * 86_400))
    }
}
