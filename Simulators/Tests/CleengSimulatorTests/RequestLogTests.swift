import Testing

@testable import CleengSimulator
@testable import SimulatorKit

@Suite struct RequestLogTests {
    private func items(_ page: AnyJSON) throws -> [AnyJSON] {
        guard case .array(let items) = try #require(page["items"]) else { return [] }
        return items
    }

    @Test func neitherReceiptNorTokenIsKept() throws {
        let bench = Bench()
        let receipt = "sub-7-" + String(repeating: "Q", count: 5_000)
        bench.pay("ana@example.test", receipt: receipt)
        bench.call("getAccessibleTags", #"{"publisherToken":"pub_tok_simulated","customerToken":"x"}"#)
        bench.send("POST", "/apple/payment", body: #"{"receipt":{"receiptData":"QQQQ"}}"#, token: "a-wrong-token")
        let page = try bench.control("GET", "/_simulator/requests")
        let text = String(decoding: AnyJSON.bytes(of: page), as: UTF8.self)
        #expect(!text.contains("QQQQ"))
        #expect(!text.contains("pub_tok_simulated"))
        #expect(!text.contains("a-wrong-token"))
        let kept = try items(page)[0]["body"]?["receipt"]?["receiptData"]
        #expect(kept?["length"] == .int(5_006))
        #expect(kept?["originalTransactionId"] == .string("7"))
        #expect(kept?["sha256"]?.string?.count == 64)
        #expect(try items(page).map { $0["publisherToken"]?.string } == ["present", "absent", "wrong"])
    }

    @Test func theLogIsFilteredAndPaged() throws {
        let bench = Bench()
        bench.pay("ana+x@example.test", "1")
        bench.time.advance(milliseconds: 10)
        bench.pay("ben@example.test", "2")
        bench.read("ana+x@example.test")
        func sequences(_ query: String) throws -> [Int64?] {
            try items(try bench.control("GET", "/_simulator/requests?\(query)")).map { $0["sequence"]?.integer }
        }
        #expect(try sequences("customerEmail=ana+x@example.test") == [1, 3])
        #expect(try sequences("customerEmail=ana%2Bx@example.test&path=/apple") == [1])
        #expect(try sequences("since=\(bench.time.now.iso8601)") == [2, 3])
        #expect(try sequences("limit=2") == [1, 2])
        #expect(try bench.control("GET", "/_simulator/requests?limit=2")["nextAfter"] == .int(2))
        #expect(try sequences("after=2") == [3])
        try bench.control("DELETE", "/_simulator/requests")
        bench.pay("ana@example.test", "1")
        #expect(try sequences("") == [4])
    }

    @Test func onlyTheLastRequestsAreRemembered() throws {
        let bench = Bench { $0.requestCapacity = 3 }
        for number in 1...8 { bench.pay("ana@example.test", "\(number)") }
        let page = try bench.control("GET", "/_simulator/requests")
        #expect(try items(page).map { $0["sequence"]?.integer } == [6, 7, 8])
        #expect(try items(page).map { $0["status"]?.integer } == [200, 200, 200])
        #expect(page["forgotten"] == .int(5))
    }

    @Test func twoForwardsOfOneSubscriptionAtOnceAreBothMarked() throws {
        let bench = Bench()
        let first = bench.begin(
            "POST", "/apple/payment", body: Bench.payment("ana@example.test", receipt: "sub-7-a"))
        let second = bench.begin(
            "POST", "/apple/payment", body: Bench.payment("ben@example.test", receipt: "sub-7-b"))
        let third = bench.begin(
            "POST", "/apple/payment", body: Bench.payment("cia@example.test", receipt: "sub-8-a"))
        for verdict in [first, second, third] {
            bench.simulator.end(verdict, outcome: .answered, status: 200)
        }
        let marks = try items(try bench.control("GET", "/_simulator/requests")).map {
            $0["overlappedWithSamePurchase"]
        }
        #expect(marks == [.bool(true), .bool(true), .bool(false)])
        let stats = try bench.control("GET", "/_simulator/stats")
        #expect(stats["overlappingForwards"] == .int(2))
        #expect(stats["maxConcurrentForwardsPerSubscription"] == .int(2))
        #expect(stats["maxConcurrentForwards"] == .int(3))
    }

    /// The head of the second arrives while the first is under way, its body only after the first was answered.
    @Test func aForwardThatBeganBeforeTheOneBeforeWasAnsweredOverlaps() throws {
        let bench = Bench()
        let body = Bench.payment("ana@example.test", receipt: "sub-7-a")
        let first = bench.begin("POST", "/apple/payment", body: body)
        bench.time.advance(milliseconds: 5)
        let headOfSecond = bench.time.now
        bench.time.advance(milliseconds: 5)
        bench.simulator.end(first, outcome: .answered, status: 200)
        let second = bench.begin("POST", "/apple/payment", body: body, startedAt: headOfSecond)
        bench.simulator.end(second, outcome: .answered, status: 200)
        let third = bench.begin("POST", "/apple/payment", body: body)
        bench.simulator.end(third, outcome: .answered, status: 200)
        let marks = try items(try bench.control("GET", "/_simulator/requests")).map {
            $0["overlappedWithSamePurchase"]
        }
        #expect(marks == [.bool(true), .bool(true), .bool(false)])
    }

    @Test func thePaceOfReadsIsMeasuredWithAndWithoutPaymentsBetween() throws {
        let bench = Bench()
        bench.read("ana@example.test")
        bench.time.advance(milliseconds: 20)
        bench.pay("ana@example.test")
        bench.read("ana@example.test")
        bench.time.advance(milliseconds: 5_000)
        bench.read("ana@example.test")
        bench.time.advance(milliseconds: 1)
        bench.read("ben@example.test")
        let ana = try bench.control("GET", "/_simulator/customers/ana@example.test")
        #expect(ana["minReadGapMilliseconds"] == .int(20))
        #expect(ana["minPollGapMilliseconds"] == .int(5_000))
        let stats = try bench.control("GET", "/_simulator/stats")
        #expect(stats["minReadGapMilliseconds"] == .int(20))
        #expect(stats["minPollGapMilliseconds"] == .int(5_000))
        #expect(stats["reads"] == .int(4))
    }
}
