import Foundation
import Hummingbird
import NIOCore
import ReceiverSupport
import Testing

import struct RelayCore.Identifier
import enum RelayCore.StorePlatform
import struct RelayCore.StoreReceipt

@testable import Cleeng

/// `/android/payment`, `/amazon/payment` and `/roku/payment`: the same rules as for the App Store's.
struct OtherStorePaymentTests {
    enum Kind: String, CaseIterable, Sendable {
        case android, amazon, roku

        var path: String { "/\(rawValue)/payment" }

        func pay(_ cleeng: CleengClient) async -> ForwardAnswer {
            switch self {
            case .android: await cleeng.pay(androidPayment)
            case .amazon: await cleeng.pay(amazonPayment)
            case .roku: await cleeng.pay(rokuPayment)
            }
        }
    }

    private func object(_ body: String) throws -> NSDictionary? {
        try JSONSerialization.jsonObject(with: Data(body.utf8)) as? NSDictionary
    }

    @Test func aPurchaseOfGooglePlayIsSentWithCleengsFields() async throws {
        let (answer, received) = try await withHTTPServer { _ in
            json(#"{"message":"OK"}"#)
        } test: { url in
            try await withCleeng(url) { cleeng in
                var payment = androidPayment
                payment.receipt = store(
                    .google,
                    [
                        "productId": .text("gold"), "purchaseToken": .text("token-SECRET"),
                        "packageName": .text("com.example.app"), "orderId": .text("GPA.1"),
                        "purchaseState": .text("0"), "purchaseTime": .text("1495672338713"),
                        "developerPayload": .text("quote \" \\ \u{1}é"),
                    ])
                payment.ipAddress = "203.0.113.9"
                payment.couponCode = "INTRO"
                return await cleeng.pay(payment)
            }
        }
        #expect(answer.verdict == .accepted)
        let request = try #require(received.first)
        #expect(request.method == "POST" && request.path == "/android/payment")
        #expect(request.headers["x-publisher-token"] == publisherToken)
        #expect(request.headers["content-type"] == "application/json")
        #expect(
            try object(request.body) == [
                "customerEmail": "ana+tv@example.test", "offerId": "S598742062_US",
                "receipt": [
                    "productId": "gold", "purchaseToken": "token-SECRET", "packageName": "com.example.app",
                    "orderId": "GPA.1", "purchaseState": "0", "purchaseTime": "1495672338713",
                    "developerPayload": "quote \" \\ \u{1}é",
                ], "ipAddress": "203.0.113.9", "couponCode": "INTRO",
            ])
    }

    @Test func aPurchaseOfTheAmazonAppstoreIsSentWithCleengsFields() async throws {
        let (answer, received) = try await withHTTPServer { _ in
            json("{}")
        } test: { url in
            try await withCleeng(url) { cleeng in
                var payment = amazonPayment
                payment.ipAddress = "203.0.113.9"
                return await cleeng.pay(payment)
            }
        }
        #expect(answer.verdict == .accepted)
        let request = try #require(received.first)
        #expect(request.method == "POST" && request.path == "/amazon/payment")
        #expect(
            try object(request.body) == [
                "customerEmail": "ana+tv@example.test", "offerId": "S598742062_US",
                "receipt": ["receiptId": "receipt-SECRET", "userId": "user-SECRET"], "ipAddress": "203.0.113.9",
            ])
    }

    @Test func anOrderOfRokuIsSentUnchanged() {
        var payment = rokuPayment
        payment.couponCode = "INTRO"
        #expect(
            String(buffer: payment.body())
                == #"{"customerEmail":"ana+tv@example.test","offerId":"S598742062_US","order":{"#
                + #""purchaseId":"purchase-SECRET","code":"gold","amount":"$9.99","qty":1,"total":10.50}}"#)
    }

    @Test func whatIsNotGivenIsNotSent() {
        #expect(
            String(buffer: androidPayment.body())
                == #"{"customerEmail":"ana+tv@example.test","offerId":"S598742062_US","receipt":{"productId":"gold","#
                + #""purchaseToken":"token-SECRET","packageName":"com.example.app"}}"#)
        #expect(
            String(buffer: amazonPayment.body())
                == #"{"customerEmail":"ana+tv@example.test","offerId":"S598742062_US","#
                + #""receipt":{"receiptId":"receipt-SECRET","userId":"user-SECRET"}}"#)
    }

    @Test func theyPrintAsTheirOfferAlone() {
        var dumped = ""
        dump(androidPayment, to: &dumped)
        dump(amazonPayment, to: &dumped)
        dump(rokuPayment, to: &dumped)
        for text in [dumped, "\(androidPayment) \(amazonPayment) \(rokuPayment)"] {
            #expect(!text.contains("SECRET") && !text.contains("ana"))
        }
    }

    @Test(
        arguments: Kind.allCases,
        [
            (200, .accepted), (202, .accepted),
            (400, .rejected(code: "E1", message: "no")), (422, .rejected(code: "E1", message: "no")),
            (401, .misconfigured(message: "no")), (403, .misconfigured(message: "no")),
            (404, .misconfigured(message: "no")), (408, .tryAgain(.requestTimeout, retryAfter: .seconds(9))),
            (429, .tryAgain(.throttled, retryAfter: .seconds(9))),
            (500, .tryAgain(.upstreamError, retryAfter: .seconds(9))),
        ] as [(Int, ForwardAnswer.Verdict)])
    func eachStatusIsSorted(kind: Kind, row: (status: Int, verdict: ForwardAnswer.Verdict)) async throws {
        let log = CapturedLog()
        let (answer, received) = try await withHTTPServer { _ in
            json(#"{"code":"E1","message":"no"}"#, status: .init(code: row.status), headers: [.retryAfter: "9"])
        } test: { url in
            try await withCleeng(url, log: log) { await kind.pay($0) }
        }
        #expect(answer.verdict == row.verdict)
        #expect(answer.status == row.status)
        #expect(received.map(\.path) == [kind.path])
        #expect(log.lines.contains { $0.contains(kind.path) })
        #expect(log.lines.allSatisfy { $0.hasPrefix("debug") && !$0.contains("SECRET") && !$0.contains("ana") })
    }

    @Test(arguments: Kind.allCases, [301, 307]) func aRedirectIsNotFollowed(kind: Kind, status: Int) async throws {
        let (answer, received) = try await withHTTPServer { _ in
            Response(status: .init(code: status), headers: [.location: "/stolen"])
        } test: { url in
            try await withCleeng(url) { await kind.pay($0) }
        }
        #expect(answer.verdict == .misconfigured(message: nil))
        #expect(received.map(\.path) == [kind.path])
    }

    @Test(arguments: Kind.allCases) func theDeadlineEndsEveryCall(kind: Kind) async throws {
        let answer = try await withRawServer([.write("HTTP/1.1 200 OK\r\n")]) { url in
            try await withCleeng(url, timeout: .seconds(2)) { await kind.pay($0) }
        }
        #expect(answer.verdict == .tryAgain(.timeout, retryAfter: nil))
        #expect(answer.latency >= .seconds(2))
    }

    @Test(arguments: Kind.allCases) func anEchoedTokenIsHidden(kind: Kind) async throws {
        let (answer, _) = try await withHTTPServer { request in
            json(
                #"{"message":"\#(request.headers["x-publisher-token"] ?? "") of ana+tv@example.test"}"#,
                status: .unauthorized)
        } test: { url in
            try await withCleeng(url) { await kind.pay($0) }
        }
        #expect(answer.verdict == .misconfigured(message: "*** of ***"))
    }
}

private func store(_ platform: StorePlatform, _ values: [String: StoreReceipt.SentScalar]) -> Payment.Receipt {
    guard let receipt = StoreReceipt(platform, values) else { preconditionFailure("a required field is missing") }
    return .store(receipt)
}

private let androidPayment = Payment(
    customerEmail: "ana+tv@example.test", offerID: "S598742062_US",
    receipt: store(
        .google,
        [
            "productId": .text("gold"), "purchaseToken": .text("token-SECRET"),
            "packageName": .text("com.example.app"),
        ]))

private let amazonPayment = Payment(
    customerEmail: "ana+tv@example.test", offerID: "S598742062_US",
    receipt: store(.amazon, ["receiptId": .text("receipt-SECRET"), "userId": .text("user-SECRET")]))

private let rokuPayment = Payment(
    customerEmail: "ana+tv@example.test", offerID: "S598742062_US",
    receipt: store(
        .roku,
        [
            "purchaseId": .text("purchase-SECRET"), "code": .text("gold"), "amount": .text("$9.99"),
            "qty": .number("1"), "total": .number("10.50"),
        ]))
