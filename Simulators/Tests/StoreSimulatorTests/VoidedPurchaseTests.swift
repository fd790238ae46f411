import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite struct VoidedPurchaseTests {
    private func list(_ bench: GoogleBench, _ query: String? = nil) -> [[String: Any]]? {
        bench.api("GET", "voidedpurchases", query: query)?.json["voidedPurchases"] as? [[String: Any]]
    }

    private func tokens(_ bench: GoogleBench, _ query: String? = nil) -> [String] {
        (list(bench, query) ?? []).compactMap { $0["purchaseToken"] as? String }
    }

    private let ms = Int64(TestAccount.now.timeIntervalSince1970 * 1_000)

    @Test func aRefundedProductIsCanceledAndListed() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "products/p", #"{"orderId":"GPA.1"}"#)
        #expect(bench.api("GET", "voidedpurchases")?.text == "{}")
        bench.now += 60
        try bench.control("POST", "products/p/refund", #"{"source":0,"reason":7}"#)
        #expect(bench.api("GET", "products/film/tokens/p")?.json["purchaseState"] as? Int == 1)
        #expect(
            bench.api("GET", "voidedpurchases")?.text
                == #"{"voidedPurchases":[{"kind":"androidpublisher#voidedPurchase","orderId":"GPA.1","purchaseTimeMillis":"#
                + #""\#(ms)","purchaseToken":"p","voidedReason":7,"voidedSource":0,"voidedTimeMillis":"\#(ms + 60_000)"}]}"#
        )
    }

    @Test func subscriptionsAreListedWithTypeOneAlone() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "subscriptions/s", #"{"orderId":"GPA.2","renewals":2}"#)
        try bench.control("PUT", "products/p", "{}")
        try bench.control("POST", "subscriptions/s/refund")
        try bench.control("POST", "products/p/refund")
        #expect(tokens(bench) == ["p"])
        #expect(tokens(bench, "type=0") == ["p"])
        #expect(tokens(bench, "type=1") == ["s", "p"])
        let first = list(bench, "type=1")?.first
        #expect(first?["orderId"] as? String == "GPA.2..1", "the order that was paid last")
        #expect(first?["voidedSource"] as? Int == 1 && first?["voidedReason"] as? Int == 0)
    }

    @Test func withoutRevocationAccessContinuesAndAnOrderIsVoidedOnce() throws {
        let bench = try GoogleBench()
        func state() -> String? {
            bench.api("GET", "subscriptionsv2/tokens/s")?.json["subscriptionState"] as? String
        }
        try bench.control("PUT", "subscriptions/s", "{}")
        try bench.control("POST", "subscriptions/s/refund", #"{"revoke":false}"#)
        #expect(state() == "SUBSCRIPTION_STATE_ACTIVE")
        #expect(tokens(bench, "type=1") == ["s"])
        try bench.control("POST", "subscriptions/s/refund")
        #expect(state() == "SUBSCRIPTION_STATE_EXPIRED")
        #expect(tokens(bench, "type=1") == ["s"])
        try bench.control("PUT", "products/p", "{}")
        try bench.control("POST", "products/p/refund", #"{"revoke":false}"#)
        #expect(bench.api("GET", "products/film/tokens/p")?.json["purchaseState"] as? Int == 0)
        #expect(tokens(bench) == ["p"])
    }

    @Test func theRangeIsByVoidedTimeAndNoOlderThanThirtyDays() throws {
        let bench = try GoogleBench()
        for number in 0...2 {
            try bench.control("PUT", "products/p\(number)", "{}")
            try bench.control("POST", "products/p\(number)/refund")
            bench.now += 10
        }
        #expect(tokens(bench, "startTime=\(ms + 10_000)") == ["p1", "p2"])
        #expect(tokens(bench, "endTime=\(ms + 10_000)") == ["p0", "p1"])
        #expect(tokens(bench, "startTime=\(ms + 1)&endTime=\(ms + 10_000)") == ["p1"])
        bench.now = TestAccount.now + 30 * 86_400 + 10
        #expect(tokens(bench) == ["p1", "p2"])
        #expect(bench.api("GET", "voidedpurchases", query: "startTime=\(ms + 10_000)")?.status == 200)
        #expect(bench.api("GET", "voidedpurchases", query: "startTime=\(ms + 9_999)")?.status == 400)
    }

    @Test func pagesFollowEachOtherWithoutGapsAlsoWhenAnotherIsVoidedBetween() throws {
        let bench = try GoogleBench()
        for number in 0...4 {
            try bench.control("PUT", "subscriptions/s\(number)", "{}")
            if number < 4 { try bench.control("POST", "subscriptions/s\(number)/refund") }
        }
        func page(_ query: String) throws -> (tokens: [String], next: String?) {
            let json = try #require(bench.api("GET", "voidedpurchases", query: query)).json
            let items = json["voidedPurchases"] as? [[String: Any]] ?? []
            return (
                items.compactMap { $0["purchaseToken"] as? String },
                (json["tokenPagination"] as? [String: Any])?["nextPageToken"] as? String
            )
        }
        let first = try page("type=1&maxResults=2")
        #expect(first.tokens == ["s0", "s1"])
        bench.now += 1
        try bench.control("POST", "subscriptions/s4/refund")
        // The times of a call with a page token are ignored.
        let second = try page("maxResults=2&startTime=0&token=\(try #require(first.next))")
        #expect(second.tokens == ["s2", "s3"])
        #expect(second.next == nil, "the next one was voided after the first page")
        #expect(try page("type=1&maxResults=5") == (["s0", "s1", "s2", "s3", "s4"], nil))
    }

    @Test(arguments: [
        "startTime=x", "endTime=-1", "type=2", "maxResults=0", "maxResults=1001", "maxResults=x", "token=x", "token=",
    ]) func whatCannotBeMeantIsRefused(query: String) throws {
        let bench = try GoogleBench()
        #expect(bench.api("GET", "voidedpurchases", query: query)?.status == 400)
    }

    @Test func otherAppsSeeNothingAndItHasATroubleOfItsOwn() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "products/p", #"{"packageName":"com.example.other"}"#)
        try bench.control("POST", "products/p/refund")
        #expect(bench.api("GET", "voidedpurchases")?.text == "{}")
        #expect(bench.api("GET", "voidedpurchases", authorized: false)?.status == 401)
        #expect(bench.api("POST", "voidedpurchases")?.status == 405)
        try bench.control("PUT", "trouble", #"{"on":"voided","status":503}"#)
        #expect(bench.api("GET", "voidedpurchases")?.status == 503)
        #expect(bench.api("GET", "products/film/tokens/x")?.status == 404)
    }

    @Test func aRefundTakesNoSlipOfThePen() throws {
        let bench = try GoogleBench()
        try bench.control("PUT", "products/p", "{}")
        for body in [#"{"source":3}"#, #"{"reason":9}"#, #"{"until":"2026-10-22T10:00:00Z"}"#] {
            #expect(throws: ControlFault.self, "\(body)") { try bench.control("POST", "products/p/refund", body) }
        }
        #expect(throws: ControlFault.self) { try bench.control("POST", "products/p/renew") }
        #expect(throws: ControlFault.noSuchPurchase) { try bench.control("POST", "products/q/refund") }
        #expect(bench.api("GET", "voidedpurchases")?.text == "{}")
    }
}
