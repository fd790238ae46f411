import Foundation
import ReceiverSupport
import StoreTestSupport
import TestRun
import Testing

@testable import StoreSimulator

@Suite("Push of store-simulator amazon as a process", .timeLimit(.paced(minutes: 2)))
struct SNSPushTests {
    private func pushing(
        _ options: String..., answering status: @escaping @Sendable (Int) -> Int? = { _ in 200 },
        test: @escaping @Sendable (StoreProcess, _ next: () async throws -> Received) async throws -> Void
    ) async throws {
        try await withPushes(
            { url in
                ["amazon", "--shared-secret", "s", "--push-url", url] + options
            }, answering: status, test: test)
    }

    private func isSigned(_ push: Received, _ store: StoreProcess) async throws -> Bool {
        let certificate = try await store.get("\(store.url)/sns/certificate.pem")
        #expect(certificate.status == 200)
        return try SNSMessage(Data(push.body.utf8)).isSigned(by: String(decoding: certificate.body, as: UTF8.self))
    }

    @Test func afterTheConfirmationAPurchaseArrivesSigned() async throws {
        let topic = "arn:aws:sns:us-east-1:123456789012:shop"
        try await pushing("--push-topic", topic) { store, next in
            try await store.control("PUT", "subscriptions/receipt-1", "{}")
            let first = try await next()
            let confirmation = SNSMessage(Data(first.body.utf8))
            #expect(confirmation["Type"] == "SubscriptionConfirmation" && confirmation["TopicArn"] == topic)
            #expect(first.headers["x-amz-sns-message-type"] == "SubscriptionConfirmation")
            #expect(try await isSigned(first, store))
            _ = try await store.message { $0["delivered"] as? Bool == true }
            let waiting = try await store.message { $0["type"] as? String == "SUBSCRIPTION_PURCHASED" }
            #expect(waiting["tries"] as? Int == 0)
            let address = try #require(confirmation["SubscribeURL"])
            #expect(address.hasPrefix("\(store.url)/sns/confirm?"))
            #expect(try await store.get(address).status == 200)
            let push = try await next()
            let message = SNSMessage(Data(push.body.utf8))
            #expect(push.method == "POST" && push.path == "/push")
            #expect(push.headers["content-type"] == "text/plain; charset=UTF-8")
            #expect(push.headers["x-amz-sns-message-type"] == "Notification")
            #expect(push.headers["x-amz-sns-topic-arn"] == topic)
            #expect(push.headers["x-amz-sns-message-id"] == message["MessageId"])
            #expect(message.notification["receiptId"] as? String == "receipt-1")
            #expect(try await isSigned(push, store))
            let entry = try await store.message {
                $0["messageId"] as? String == message["MessageId"] && $0["delivered"] as? Bool == true
            }
            #expect(entry["tries"] as? Int == 1 && entry["token"] as? String == "receipt-1")
        }
    }

    @Test func aConfirmedOneNeedsNoConfirmationAndANewAddressDoes() async throws {
        try await pushing("--push-confirmed") { store, next in
            try await store.control("PUT", "subscriptions/a", "{}")
            let push = try await next()
            #expect(push.headers["x-amz-sns-message-type"] == "Notification")
            let settings = try await store.control("GET", "push")
            #expect(settings.contains(#""confirmed":true"#))
            let url = "http://\(try #require(push.headers["host"]))/another"
            try await store.control("PUT", "push", #"{"url":"\#(url)"}"#)
            let confirmation = try await next()
            #expect(confirmation.path == "/another")
            #expect(confirmation.headers["x-amz-sns-message-type"] == "SubscriptionConfirmation")
            let address = try #require(SNSMessage(Data(confirmation.body.utf8))["SubscribeURL"])
            #expect(address.hasPrefix("\(store.url)/sns/confirm?"))
        }
    }

    @Test func whatFailsComesAgainAndWhatIsRefusedDoesNot() async throws {
        try await pushing("--push-confirmed") {
            [503, 429, 200, 403][safe: $0] ?? 200
        } test: { store, next in
            try await store.control("PUT", "subscriptions/a", "{}")
            let ids = [try await next(), try await next(), try await next()].map { $0.headers["x-amz-sns-message-id"] }
            #expect(Set(ids).count == 1 && ids[0] != nil)
            _ = try await store.message { $0["tries"] as? Int == 3 && $0["delivered"] as? Bool == true }
            try await store.control("POST", "notifications", #"{"message":{},"forge":"none"}"#)
            #expect(!(try await next()).body.contains("\"Signature\""))
            let refused = try await store.message { $0["forged"] as? Bool == true && $0["lastStatus"] != nil }
            #expect(refused["lastStatus"] as? Int == 403 && refused["delivered"] as? Bool == false)
            try await store.control("PUT", "subscriptions/b", "{}")
            let after = SNSMessage(Data((try await next()).body.utf8))
            #expect(after.notification["receiptId"] as? String == "b")
        }
    }

    @Test func heldDuplicatesArriveInTheShuffledOrder() async throws {
        try await pushing("--push-confirmed") { store, next in
            try await store.control("PUT", "delivery", #"{"hold":true,"duplicate":1}"#)
            for number in 0..<10 { try await store.control("PUT", "subscriptions/r\(number)", "{}") }
            try await store.control("POST", "delivery/release", #"{"shuffle":true,"seed":7}"#)
            var arrived: [String] = []
            for _ in 0..<20 {
                let message = SNSMessage(Data((try await next()).body.utf8))
                arrived.append(try #require(message.notification["receiptId"] as? String))
            }
            var expected = (0..<10).flatMap { ["r\($0)", "r\($0)"] }
            var generator = SeededGenerator(seed: 7)
            expected.shuffle(using: &generator)
            #expect(arrived == expected)
        }
    }

    @Test func theCertificateIsWrittenOverTheOneOfAnEarlierStart() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        var certificates: Set<Data> = []
        for _ in 0..<2 {
            let store = try await StoreProcess.start(["amazon", "--shared-secret", "s", "--certificate-out", file])
            defer { store.end() }
            let certificate = try await store.get("\(store.url)/sns/certificate.pem").body
            #expect(FileManager.default.contents(atPath: file) == certificate)
            #expect(try await store.requests() == ["GET /sns/certificate.pem absent answered 200"])
            certificates.insert(certificate)
        }
        #expect(certificates.count == 2)
    }
}
