import Foundation
import ReceiverSupport
import StoreTestSupport
import TestRun
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite("Roku's push notifications", .timeLimit(.paced(minutes: 2)))
struct RokuPushTests {
    private let keys: Data

    init() throws { keys = JSONBody.encode(try TestAccount.pushKey.set()) }

    @Test func aPurchaseIsPushedSigned() throws {
        let bench = try RokuBench.pushing()
        try bench.control("PUT", "subscriptions/o1", #"{"productId":"gold"}"#)
        let request = try bench.request(try #require(bench.attempts().first))
        #expect(request.headers == [NamedValue(name: "Content-Type", value: "text/plain")])
        let push = try ReadRokuPush(request.body)
        #expect(try push.isSigned(by: keys))
        #expect(push.header["alg"] as? String == "RS256" && push.header["typ"] as? String == "JWT")
        let claims = push.claims
        #expect(claims["iss"] as? String == "Roku, Inc. urn:roku:apps:partner-service.roku.com")
        #expect(claims["exp"] as? Int == 1_790_086_400 && claims["nbf"] as? Int == 1_789_996_400)
        #expect(claims["x-Roku-message-type"] as? String == "roku.rpay.push" && claims["aud"] == nil)
        #expect(claims["x-Roku-message-key"] as? String != nil)
        let told = push.object
        #expect(told["transactionType"] as? String == "Sale" && told["originalTransactionId"] as? String == "o1")
        #expect(told["transactionId"] as? String == "o1" && told["originalPurchaseDate"] == nil)
        #expect(told["productCode"] as? String == "gold" && told["responseKey"] as? String != nil)
    }

    @Test(arguments: [
        ("renew", ["Sale"]), ("cancel", ["Cancellation"]), ("expire", ["Cancellation"]),
        ("refund", ["Refund", "Cancellation"]), ("grace", ["GraceInitiated"]), ("hold", ["OnHoldInitiated"]),
        ("chargeback", ["Chargeback"]), ("upgrade", ["UpgradeSale", "UpgradeCancellation"]),
    ])
    func anActIsPushed(act: String, types: [String]) throws {
        let bench = try RokuBench.pushing()
        try bench.control("PUT", "subscriptions/o1", "{}")
        _ = try bench.types()
        try bench.control("POST", "subscriptions/o1/\(act)")
        #expect(try bench.types() == types)
    }

    @Test func whatIsPaidAfterAllHasTypesOfItsOwn() throws {
        let bench = try RokuBench.pushing()
        try bench.control("PUT", "subscriptions/o1", "{}")
        for act in ["grace", "renew", "hold", "renew", "cancel", "resubscribe"] {
            try bench.control("POST", "subscriptions/o1/\(act)")
        }
        #expect(
            try bench.types() == [
                "Sale", "GraceInitiated", "GraceRecovered", "OnHoldInitiated", "OnHoldRecovered", "Cancellation",
                "Resubscribe",
            ])
    }

    @Test(arguments: [RokuForgery.signature, .issuer, .expired, .early, .tampered, .algorithm, .key, .jku])
    func aForgeryIsWrong(_ forgery: RokuForgery) throws {
        let bench = try RokuBench.pushing()
        try bench.control(
            "POST", "notifications", #"{"message":{"transactionType":"Sale"},"forge":"\#(forgery.rawValue)"}"#)
        let push = try ReadRokuPush(try bench.request(try #require(bench.attempts().first)).body)
        let now = TestAccount.now.timeIntervalSince1970
        switch forgery {
        case .signature, .tampered, .algorithm: #expect(try !push.isSigned(by: keys))
        case .jku: #expect(try !push.isSigned(by: keys) && push.header["jku"] != nil)
        case .key: #expect(push.header["kid"] as? String == "another")
        case .issuer: #expect(try push.isSigned(by: keys) && push.claims["iss"] as? String == "Another")
        case .expired: #expect(try push.isSigned(by: keys) && (push.claims["exp"] as? Double ?? now) < now)
        case .early: #expect(try push.isSigned(by: keys) && (push.claims["nbf"] as? Double ?? now) > now)
        }
        #expect(try bench.messages().first?["forged"] as? Bool == true)
    }

    @Test func theUnsignedFormIsTheMessageAndWantsItsResponseKey() throws {
        let bench = try RokuBench.pushing("unsigned", requiresAPIKey: true)
        try bench.control("PUT", "subscriptions/o1", "{}")
        let attempt = try #require(bench.attempts().first)
        let request = try bench.request(attempt)
        #expect(request.headers.first?.value == "application/json")
        let told = try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
        let key = Data(try #require(told["responseKey"] as? String).utf8)
        func isReceipt(_ body: Data, _ apiKey: String?) -> Bool {
            let headers = apiKey.map { [NamedValue(name: "apikey", value: $0)] } ?? []
            return bench.front.store.push.isReceipt(
                PushAnswer(status: 200, headers: headers, body: body), of: attempt)
        }
        #expect(isReceipt(key, RokuBench.apiKey))
        #expect(!isReceipt(key, nil) && !isReceipt(Data(), RokuBench.apiKey))
        let again = bench.front.store.push.end(attempt, PushAnswer(status: 200))
        #expect(again != nil, "what is not receipted comes again")
        #expect(try bench.messages().first?["delivered"] as? Bool == false)
    }

    @Test func aTextAndABodyAreSentAsTheyAre() throws {
        let bench = try RokuBench.pushing()
        try bench.control("POST", "notifications", #"{"message":"a test"}"#)
        try bench.control("POST", "notifications", #"{"raw":"no token"}"#)
        let bodies = try bench.attempts().map { try bench.request($0).body }
        #expect(try ReadRokuPush(bodies[0]).message == Data("a test".utf8))
        #expect(bodies[1] == Data("no token".utf8))
        for body in [#"{"message":1}"#, "{}", #"{"raw":"x","forge":"issuer"}"#] {
            #expect(throws: ControlFault.self) { try bench.control("POST", "notifications", body) }
        }
    }

    @Test func asAProcessItRepeatsWhatIsNotReceiptedAndServesItsKeys() async throws {
        try await withPushes { url in
            ["roku", "--api-key", "k", "--push-url", url]
        } answering: {
            [503, 404, 200][safe: $0] ?? 200
        } test: { store, next in
            try await store.control("PUT", "subscriptions/o1", "{}")
            let served = try await store.get("\(store.url)/keys/partner-jwks.json")
            #expect(served.status == 200)
            var messageKeys: Set<String> = []
            for _ in 0..<3 {
                let push = try ReadRokuPush(Data(try await next().body.utf8))
                #expect(try push.isSigned(by: served.body))
                messageKeys.insert(try #require(push.claims["x-Roku-message-key"] as? String))
            }
            #expect(messageKeys.count == 1)
            _ = try await store.message { $0["tries"] as? Int == 3 && $0["delivered"] as? Bool == true }
        }
    }
}
