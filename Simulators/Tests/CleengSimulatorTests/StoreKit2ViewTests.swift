import Testing

@testable import CleengSimulator
@testable import SimulatorKit

/// What the control API shows of StoreKit 2, and what is told through it.
@Suite struct StoreKit2ViewTests {
    @Test func whatIsToldOfATransactionIsReadBack() throws {
        let bench = Bench()
        let untold = try bench.control("GET", "/_simulator/transactions/8")
        #expect(
            untold
                == .object([
                    "transactionId": .string("8"), "originalTransactionId": .string("8"),
                    "offerId": .string("S123456789_US"), "expiresAt": .null,
                ]))
        let body = #"{"originalTransactionId":"7","offerId":"S111111111_US","expiresAt":1800005000}"#
        let told = try bench.control("PUT", "/_simulator/transactions/8", body)
        #expect(
            told
                == .object([
                    "transactionId": .string("8"), "originalTransactionId": .string("7"),
                    "offerId": .string("S111111111_US"), "expiresAt": .int(1_800_005_000),
                ]))
        #expect(try bench.control("GET", "/_simulator/transactions/8") == told)
        try bench.tell("8", #"{"offerId":"S222222222_US"}"#)
        let again = try bench.control("GET", "/_simulator/transactions/8")
        #expect(again["offerId"] == .string("S222222222_US"))
        #expect(again["originalTransactionId"] == .string("8"))
        try bench.control("POST", "/_simulator/reset")
        #expect(try bench.control("GET", "/_simulator/transactions/8") == untold)
    }

    @Test(arguments: [
        ("8", "{}"), ("8", #"{"offerId":"X1"}"#), ("8", #"{"offerId":"S111111111_US","originalTransactionId":"x"}"#),
        ("8", #"{"offerId":"S111111111_US","originalTransactionId":7}"#),
        ("8", #"{"offerId":"S111111111_US","expiresAt":"soon"}"#), ("8", #"{"offerId":"S111111111_US","expires":1}"#),
        ("x8", #"{"offerId":"S111111111_US"}"#),
    ])
    func slipsAreToldAndChangeNothing(id: String, body: String) throws {
        let bench = Bench()
        #expect(throws: ControlFault.self) { try bench.tell(id, body) }
        #expect(try bench.control("GET", "/_simulator/transactions/8")["offerId"] == .string("S123456789_US"))
    }

    @Test func aCustomerWhoIsMadeKnownKeepsTheTags() throws {
        let bench = Bench()
        let shown = try bench.control("PUT", "/_simulator/customers/ana+after-3s@example.test")
        #expect(shown["behavioursFrom"] == .string("plus tags"))
        #expect(shown["known"] == .bool(true))
        let bare = try bench.control(
            "PUT", "/_simulator/customers/ana+after-3s@example.test", #"{"behaviours":[]}"#)
        #expect(bare["behavioursFrom"] == .string("control API"))
    }

    @Test func callsOfEachKindAreCountedByThemselves() throws {
        let bench = Bench()
        let number = try bench.number(of: "ana@example.test")
        let started = bench.register("1", for: number)
        bench.register("1", for: number)
        bench.move("2", to: number)
        bench.move("3", to: 999)
        for _ in 0..<3 { _ = bench.state(started) }
        bench.register("4", for: try bench.number(of: "ben+hang@example.test"))
        let stats = try bench.control("GET", "/_simulator/stats")
        #expect(stats["registrations"] == .int(3))
        #expect(
            stats["registrationsByOutcome"] == .object(["202": .int(1), "409": .int(1), "hung": .int(1)]))
        #expect(stats["transferRequests"] == .int(2))
        #expect(stats["transferRequestsByOutcome"] == .object(["202": .int(1), "422": .int(1)]))
        #expect(stats["synchronizationReads"] == .int(3))
        #expect(stats["synchronizationsRunning"] == .int(2))
        #expect(stats["payments"] == .int(0))
        #expect(stats["paymentsByOutcome"] == .object([:]))
        #expect(stats["reads"] == .int(0))
        let ana = try bench.control("GET", "/_simulator/customers/ana@example.test")
        #expect(ana["synchronizationsAccepted"] == .int(2))
        #expect(ana["paymentsReceived"] == .int(0))
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.control("GET", "/_simulator/stats")["synchronizationsRunning"] == .int(0))
    }

    @Test func theyCountAsForwardsOfTheirPurchase() throws {
        let bench = Bench()
        let (ana, ben) = (try bench.number(of: "ana@example.test"), try bench.number(of: "ben@example.test"))
        try bench.tell("8", #"{"originalTransactionId":"7","offerId":"S123456789_US"}"#)
        let underWay = [
            bench.begin("POST", "/apple/payment", body: Bench.payment("ana@example.test", receipt: "sub-7-a")),
            bench.begin("POST", Bench.purchases, body: Bench.purchase("8", ben)),
            bench.begin("POST", Bench.transfers, body: Bench.purchase("9", ana)),
        ]
        for verdict in underWay { bench.simulator.end(verdict, outcome: .answered, status: 202) }
        bench.register("8", for: ana)
        let items = try bench.logged()
        #expect(
            items.map { $0["overlappedWithSamePurchase"] } == [.bool(true), .bool(true), .bool(false), .bool(false)])
        let stats = try bench.control("GET", "/_simulator/stats")
        #expect(stats["overlappingForwards"] == .int(2))
        #expect(stats["maxConcurrentForwards"] == .int(3))
        #expect(stats["maxConcurrentForwardsPerSubscription"] == .int(2))
        #expect(stats["forwardsInFlight"] == .int(0))
    }

    @Test func theLogNamesTheCustomerOfEachCall() throws {
        let bench = Bench()
        let started = bench.register("8", for: try bench.number(of: "ana@example.test"))
        _ = bench.state(started)
        bench.register("9", for: 999)
        let items = try bench.logged()
        #expect(items.map { $0["customerEmail"]?.string } == ["ana@example.test", "ana@example.test", nil])
        #expect(items[0]["body"]?["transactionId"] == .string("8"))
        #expect(items[1]["overlappedWithSamePurchase"] == nil)
    }

    @Test func aPurchaseBetweenTwoReadsIsNoPoll() throws {
        let bench = Bench()
        let number = try bench.number(of: "ana@example.test")
        for call in [{ bench.register("1", for: number) }, { bench.move("2", to: number) }] {
            bench.read("ana@example.test")
            bench.time.advance(milliseconds: 20)
            _ = call()
        }
        bench.read("ana@example.test")
        let ana = try bench.control("GET", "/_simulator/customers/ana@example.test")
        #expect(ana["minReadGapMilliseconds"] == .int(20))
        #expect(ana["minPollGapMilliseconds"] == nil)
    }

    @Test func aResetForgetsWhatRuns() throws {
        let bench = Bench()
        let started = bench.register("1", for: try bench.number(of: "ana@example.test"))
        try bench.control("POST", "/_simulator/reset")
        #expect(bench.state(started) == "no status")
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.entitlements("ana@example.test") == [])
        #expect(bench.register("1", for: try bench.number(of: "ana@example.test")).status == 202)
    }

    @Test func theOldestAreForgottenAndGrantedAllTheSame() throws {
        let bench = Bench {
            $0.synchronizationCapacity = 2
            $0.transactionCapacity = 1
        }
        let number = try bench.number(of: "ana@example.test")
        let started = ["1", "2", "3"].map { bench.register($0, for: number) }
        #expect(started.map(bench.state) == ["no status", "processing", "processing"])
        // Nothing holds it any more.
        #expect(bench.register("1", for: number).status == 202)
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.entitlements("ana@example.test").count == 3)
        #expect(try bench.control("GET", "/_simulator/stats")["synchronizationsRunning"] == .int(0))
        try bench.tell("8", #"{"offerId":"S111111111_US"}"#)
        try bench.tell("9", #"{"offerId":"S111111111_US"}"#)
        #expect(try bench.control("GET", "/_simulator/transactions/8")["offerId"] == .string("S123456789_US"))
        #expect(try bench.control("GET", "/_simulator/transactions/9")["offerId"] == .string("S111111111_US"))
    }
}

extension Bench {
    fileprivate func logged() throws -> [AnyJSON] {
        guard case .array(let items) = try control("GET", "/_simulator/requests")["items"] else { return [] }
        return items
    }
}
