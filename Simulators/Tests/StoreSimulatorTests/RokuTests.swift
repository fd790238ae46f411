import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite("Roku's transaction service") struct RokuTests {
    @Test func aSubscriptionIsAnsweredInRokusShape() throws {
        let bench = try RokuBench()
        try bench.control(
            "PUT", "subscriptions/o1",
            #"{"productId":"gold","amount":1.99,"channelId":7,"expirationDate":"2026-10-22T10:00:00Z"}"#)
        let answer = try bench.transaction("o1")
        let json = answer.json
        #expect(answer.status == 200 && json["status"] as? Int == 0 && json["errorMessage"] as? String == "")
        #expect(json["OriginalTransactionId"] as? String == "o1" && json["transactionId"] as? String == "o1")
        #expect(json["expirationDate"] as? String == "/Date(1792663200000+0000)/")
        #expect(json["isEntitled"] as? Bool == true && json["cancelled"] as? Bool == false)
        #expect(json["purchaseStatus"] as? String == "Active" && json["channelId"] as? Int == 7)
        #expect(json["couponCode"] is NSNull && json["amount"] as? Double == 1.99)
    }

    @Test func aRenewalHasAnIdOfItsOwnByWhichTheSubscriptionIsFoundToo() throws {
        let bench = try RokuBench()
        try bench.control("PUT", "subscriptions/o1", "{}")
        try bench.control("POST", "subscriptions/o1/renew", #"{"transactionId":"r1"}"#)
        for id in ["o1", "r1"] {
            let json = try bench.transaction(id).json
            #expect(json["OriginalTransactionId"] as? String == "o1" && json["transactionId"] as? String == "r1")
        }
    }

    @Test func refusalsHaveStatus200AndTheKeyIsNotLogged() throws {
        let bench = try RokuBench()
        try bench.control("PUT", "subscriptions/o1", "{}")
        let refused = try bench.transaction("o1", apiKey: "another-key")
        #expect(refused.status == 200 && refused.json["status"] as? Int == 1)
        #expect(refused.json["errorMessage"] as? String == "UNAUTHORIZED")
        #expect(try bench.transaction("o2").json["status"] as? Int == 1)
        _ = try bench.transaction("o1")
        let log = try bench.control("GET", "requests").text
        #expect(!log.contains("another-key") && !log.contains(RokuBench.apiKey))
        #expect(log.contains("validate-transaction/[key]/o1") && log.contains(#""credentials":"bad""#))
    }

    @Test(arguments: [
        ("cancel", true, "PendingInactive", true), ("expire", false, "Inactive", true),
        ("refund", false, "Inactive", true), ("grace", true, "Active", false), ("hold", false, "Inactive", false),
        ("renew", true, "Active", false), ("chargeback", true, "Active", false),
    ])
    func anActChangesTheAnswer(act: String, isEntitled: Bool, status: String, cancelled: Bool) throws {
        let bench = try RokuBench()
        try bench.control("PUT", "subscriptions/o1", "{}")
        try bench.control("POST", "subscriptions/o1/\(act)")
        let json = try bench.transaction("o1").json
        #expect(json["isEntitled"] as? Bool == isEntitled && json["purchaseStatus"] as? String == status)
        #expect(json["cancelled"] as? Bool == cancelled)
    }

    @Test func anUpgradeEndsTheOldOneAndIsItsOwnOriginal() throws {
        let bench = try RokuBench()
        try bench.control("PUT", "subscriptions/o1", "{}")
        try bench.control("POST", "subscriptions/o1/upgrade", #"{"transactionId":"o2"}"#)
        #expect(try bench.transaction("o1").json["purchaseStatus"] as? String == "Inactive")
        let new = try bench.transaction("o2").json
        #expect(new["OriginalTransactionId"] as? String == "o2" && new["purchaseType"] as? String == "UPGRADE")
        #expect(new["cancelledTransactionIds"] as? [String] == ["o1"])
    }

    @Test func whatIsForgottenOrPaidOnceIsNotEntitled() throws {
        let bench = try RokuBench()
        try bench.control("PUT", "subscriptions/o1", #"{"isOneTime":true}"#)
        let once = try bench.transaction("o1").json
        #expect(once["isEntitled"] as? Bool == false && once["expirationDate"] is NSNull)
        #expect(throws: ControlFault.self) { try bench.control("POST", "subscriptions/o1/renew") }
        try bench.control("POST", "subscriptions/o1/forget")
        #expect(try bench.transaction("o1").json["status"] as? Int == 1)
        try bench.control("PUT", "answers/o1", "{}")
        #expect(try bench.transaction("o1").text == "{}")
    }
}
