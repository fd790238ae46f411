import Testing

@testable import CleengSimulator
@testable import SimulatorKit

/// What the plus tags and the control API do to StoreKit 2 purchases.
@Suite struct StoreKit2BehaviourTests {
    /// What three registrations in a row are met with; none of them locks the next.
    @Test(arguments: [
        ("reject-422-1", ["422", "202", "202"]), ("throttled-1-bare", ["429", "202", "202"]),
        ("flaky-2", ["500", "500", "202"]), ("hang-1", ["hang", "202", "202"]), ("reset-1", ["reset", "202", "202"]),
        ("lost-answer-1", ["lost answer", "202", "202"]), ("slow-5s-1", ["202 after 5000 ms", "202", "202"]),
        ("read-500", ["202", "202", "202"]), ("notification-500", ["202", "202", "202"]),
        ("storekit2-inactive", ["500", "500", "500"]), ("storekit2-migrating", ["202", "202", "202"]),
    ])
    func registrationsAndTransfersAreMetWithWhatTheTagsSay(tag: String, expected: [String]) throws {
        for path in [Bench.purchases, Bench.transfers] where tag != "storekit2-migrating" || path == Bench.purchases {
            let bench = Bench()
            let number = try bench.number(of: "ana+\(tag)@example.test")
            let texts = (1...3).map { bench.send("POST", path, body: Bench.purchase("\($0)", number)).text }
            #expect(texts == expected, "\(path)")
        }
    }

    @Test(arguments: [
        ("read-500-2", ["500", "500", "200"]), ("read-hang-1", ["hang", "200", "200"]),
        ("read-slow-2s-1", ["200 after 2000 ms", "200", "200"]), ("flaky", ["200", "200", "200"]),
    ])
    func readsOfASynchronizationAreMetWithWhatTheTagsOfItsCustomerSay(tag: String, expected: [String]) throws {
        let bench = Bench()
        let number = try bench.number(of: "ana@example.test")
        let id = try #require(bench.register(for: number).json?["synchronizationId"]?.string)
        try bench.control("PUT", "/_simulator/customers/ana@example.test", #"{"behaviours":["\#(tag)"]}"#)
        let path = "/storekit2/purchases/synchronizations/\(id)"
        #expect((1...3).map { _ in bench.send("GET", path).text } == expected)
    }

    @Test func whatIsRefusedHasNoEffectAndWhatLosesItsAnswerHas() throws {
        let bench = Bench()
        let flaky = try bench.number(of: "ana+after-0+flaky-1@example.test")
        let lost = try bench.number(of: "ben+after-2s+lost-answer-1@example.test")
        bench.register("1", for: flaky)
        #expect(try bench.entitlements("ana+after-0+flaky-1@example.test") == [])
        bench.register("1", for: flaky)
        #expect(try bench.entitlements("ana+after-0+flaky-1@example.test") == ["S123456789_US active"])
        bench.register("2", for: lost)
        #expect(Bench.code(bench.register("2", for: lost)) == "409 SK2C0101")
    }

    @Test(arguments: [
        ("after-3s", 3_000), ("late-70s", 70_000), ("after-250ms", 250), ("after-1s+storekit2-retrying", 1_000),
    ])
    func itIsFinalizedWhenTheTagSays(tags: String, milliseconds: Int64) throws {
        let bench = Bench()
        let started = bench.register(for: try bench.number(of: "ana+\(tags)@example.test"))
        bench.time.advance(milliseconds: milliseconds - 1)
        #expect(bench.state(started) == (tags.contains("retrying") ? "retrying" : "processing"))
        bench.time.advance(milliseconds: 1)
        #expect(bench.state(started) == "PURCHASE_REGISTERED true S123456789_US")
    }

    @Test(arguments: [("never", "processing"), ("never+storekit2-retrying", "retrying")])
    func itIsNeverFinalizedWhereTheTagSaysSoAndStaysLocked(tags: String, status: String) throws {
        let bench = Bench()
        let number = try bench.number(of: "ana+\(tags)@example.test")
        let started = bench.register(for: number)
        bench.time.advance(milliseconds: 86_400_000)
        #expect(bench.state(started) == status)
        #expect(Bench.code(bench.register(for: number)) == "409 SK2C0101")
        #expect(try bench.entitlements("ana+\(tags)@example.test") == [])
    }

    @Test(arguments: [
        ("storekit2-unknown", "TRANSACTION_ID_NOT_FOUND"), ("storekit2-expired", "RECEIVED_EXPIRED_PURCHASE"),
        ("terminated", "RECEIVED_EXPIRED_PURCHASE"),
    ])
    func whatAppleDoesNotVouchForGivesNoAccess(tag: String, result: String) throws {
        let bench = Bench()
        let email = "ana+\(tag)@example.test"
        let started = bench.register(for: try bench.number(of: email))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started) == "\(result) false S123456789_US")
        #expect(try bench.entitlements(email) == [])
        bench.pay("ben@example.test", "7")
        bench.time.advance(milliseconds: 1_000)
        guard tag != "terminated" else { return }
        let moved = bench.move("7", to: try bench.number(of: email))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(moved) == "\(result) false S123456789_US")
        #expect(try bench.entitlements("ben@example.test") == ["S123456789_US active"])
    }

    @Test(arguments: [("cancelled", "cancelled", 5_000), ("expired-active", "active", 1 - 3_600)])
    func whatIsGrantedIsAsTheTagSays(tag: String, status: String, end: Int64) throws {
        let bench = Bench()
        let email = "ana+\(tag)@example.test"
        try bench.tell("7", #"{"offerId":"S123456789_US","expiresAt":1800005000}"#)
        let started = bench.register("7", for: try bench.number(of: email))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started) == "PURCHASE_REGISTERED true S123456789_US")
        #expect(try bench.entitlements(email) == ["S123456789_US \(status)"])
        #expect(bench.end(email) == end)
    }

    @Test func theRefusalsOfStoreKit2CanBefallOneCustomerOrEverybody() throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        let mig = try bench.number(of: "ben+storekit2-migrating@example.test")
        let off = try bench.number(of: "cia+storekit2-inactive@example.test")
        #expect(Bench.code(bench.move("1", to: mig)) == "422 SK2C0005")
        #expect(Bench.code(bench.register("1", for: off)) == "500 SK2C0004")
        #expect(Bench.code(bench.move("1", to: off)) == "500 SK2C0004")
        #expect(bench.move("1", to: ana).status == 202)
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["storekit2-migrating"]}"#)
        #expect(Bench.code(bench.move("2", to: ana)) == "422 SK2C0005")
        #expect(bench.register("2", for: ana).status == 202)
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["storekit2-inactive"]}"#)
        #expect(Bench.code(bench.register("3", for: ana)) == "500 SK2C0004")
        #expect(Bench.code(bench.register("3", for: 999)) == "500 SK2C0004")
        #expect(bench.pay("ana@example.test").status == 200)
        try bench.control("DELETE", "/_simulator/upstream")
        #expect(bench.register("3", for: ana).status == 202)
        try bench.control("PUT", "/_simulator/default", #"{"behaviours":["storekit2-inactive"]}"#)
        #expect(Bench.code(bench.register("4", for: ana)) == "500 SK2C0004")
    }

    @Test func upstreamTroubleBefallsTheseCallsToo() throws {
        let bench = Bench()
        let number = try bench.number(of: "ana@example.test")
        let started = bench.register(for: number)
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["down-1","read-503-1"]}"#)
        #expect(bench.register("2", for: number).text == "503")
        #expect(bench.state(started) == "no status")
        #expect(bench.state(started) == "processing")
    }

    @Test(arguments: ["storekit2", "storekit2-", "storekit2-gone", "storekit2-inactive-2"])
    func otherNamesMeanNothing(name: String) {
        #expect(throws: ControlFault.self) { _ = try Behaviour(names: [name]) }
    }

    @Test(arguments: ["storekit2-unknown", "storekit2-expired", "storekit2-retrying"])
    func whatAppleSaysOfAPurchaseIsNothingThatCanBefallEverybody(name: String) {
        let body = #"{"behaviours":["\#(name)"]}"#
        #expect(throws: ControlFault.self) { try Bench().control("PUT", "/_simulator/upstream", body) }
    }
}
