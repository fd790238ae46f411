import Testing

@testable import CleengSimulator

/// What becomes of purchases that are registered through StoreKit 2.
@Suite struct RegistrationTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    @Test func aRegistrationIsFinalizedAfterItsDelayAndGrants() throws {
        let bench = Bench()
        let started = bench.register(for: try bench.number(of: ana))
        bench.time.advance(milliseconds: 999)
        #expect(bench.state(started) == "processing")
        #expect(try bench.entitlements(ana) == [])
        bench.time.advance(milliseconds: 1)
        #expect(try bench.entitlements(ana) == ["S123456789_US active"])
        #expect(bench.state(started) == "PURCHASE_REGISTERED true S123456789_US")
    }

    /// The same purchase by either road leaves the same behind.
    @Test func aSubscriptionIsTheSameHoweverItCame() throws {
        func views(_ buy: (Bench) throws -> Void) throws -> [AnyJSON?] {
            let bench = Bench()
            _ = try bench.number(of: ana)
            try buy(bench)
            bench.time.advance(milliseconds: 1_000)
            let stats = try bench.control("GET", "/_simulator/stats")
            return [
                try bench.control("GET", "/_simulator/subscriptions"), bench.read(ana).json,
                try bench.control("GET", "/_simulator/customers/\(ana)")["entitlements"], stats["grants"],
                stats["subscriptions"], bench.call("generateCustomerToken", Self.publisher + #""\#(ana)"}"#),
            ]
        }
        let registered = try views { $0.register("7", for: try $0.number(of: ana)) }
        #expect(registered == (try views { $0.pay(ana, "7") }))
        #expect(registered[3] == .int(1))
    }

    private static let publisher = #"{"publisherToken":"pub_tok_simulated","customerEmail":"#

    @Test func whoHasItAlreadyHasAccessAndNothingNew() throws {
        let bench = Bench()
        let number = try bench.number(of: ana)
        for _ in 0..<2 {
            bench.register(for: number)
            bench.time.advance(milliseconds: 1_000)
        }
        let third = bench.register(for: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(third) == "PURCHASE_OWNERSHIP_UNCHANGED true S123456789_US")
        #expect(try bench.entitlements(ana) == ["S123456789_US active"])
        #expect(try bench.control("GET", "/_simulator/stats")["grants"] == .int(1))
    }

    @Test func whatAnotherCustomerHasIsNotTakenAway() throws {
        let bench = Bench()
        bench.register(for: try bench.number(of: ana))
        bench.time.advance(milliseconds: 1_000)
        let started = bench.register(for: try bench.number(of: ben))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started) == "PURCHASE_OWNERSHIP_UNCHANGED false S123456789_US")
        #expect(try bench.entitlements(ana) == ["S123456789_US active"])
        #expect(try bench.entitlements(ben) == [])
        #expect(try bench.control("GET", "/_simulator/stats")["transfers"] == .int(0))
    }

    @Test func whatCameByAReceiptIsKnownToStoreKit2AndTheOtherWayRound() throws {
        let bench = Bench()
        bench.pay(ana, "7", offer: "S598742062_US")
        bench.time.advance(milliseconds: 1_000)
        let same = bench.register("7", for: try bench.number(of: ana))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(same) == "PURCHASE_OWNERSHIP_UNCHANGED true S598742062_US")
        let other = bench.register("7", for: try bench.number(of: ben))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(other) == "PURCHASE_OWNERSHIP_UNCHANGED false S598742062_US")
        // A receipt moves it.
        bench.pay(ben, "7", offer: "S598742062_US")
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.entitlements(ana) == ["S598742062_US terminated"])
        #expect(try bench.entitlements(ben) == ["S598742062_US active"])
    }

    @Test func onceItHasEndedAnybodyMayRegisterIt() throws {
        let bench = Bench()
        bench.register("7", for: try bench.number(of: ana))
        bench.time.advance(milliseconds: 1_000)
        bench.notify(Notices.signed("REFUND"))
        let started = bench.register("7", for: try bench.number(of: ben))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started) == "PURCHASE_REGISTERED true S123456789_US")
        #expect(try bench.entitlements(ana) == ["S123456789_US terminated"])
        #expect(try bench.entitlements(ben) == ["S123456789_US active"])
    }

    @Test func aTransactionIsWhatWasToldOfIt() throws {
        let bench = Bench { $0.storeKit2Offer = OfferId("S598742062_US") ?? .standard }
        let end = bench.time.now.unixSeconds + 500
        try bench.tell("8", #"{"originalTransactionId":"7","offerId":"S111111111_US","expiresAt":\#(end)}"#)
        let number = try bench.number(of: ana)
        let (told, untold) = (bench.register("8", for: number), bench.register("9", for: number))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(told) == "PURCHASE_REGISTERED true S111111111_US")
        #expect(bench.state(untold) == "PURCHASE_REGISTERED true S598742062_US")
        #expect(bench.end(ana) == 500)
        let page = try bench.control("GET", "/_simulator/subscriptions")
        guard case .array(let items) = page["items"] else { return }
        #expect(items.map { $0["originalTransactionId"]?.string } == ["7", "9"])
        // Another transaction of the same subscription.
        try bench.tell("10", #"{"originalTransactionId":"7","offerId":"S111111111_US"}"#)
        let renewed = bench.register("10", for: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(renewed) == "PURCHASE_OWNERSHIP_UNCHANGED true S111111111_US")
    }

    @Test func aTransactionThatIsOverGivesNothingUnlessItsSubscriptionRuns() throws {
        let bench = Bench()
        let number = try bench.number(of: ana)
        let end = bench.time.now.unixSeconds + 1
        try bench.tell("7", #"{"offerId":"S123456789_US","expiresAt":\#(end)}"#)
        let late = bench.register("7", for: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(late) == "RECEIVED_EXPIRED_PURCHASE false S123456789_US")
        #expect(try bench.entitlements(ana) == [])
        try bench.tell("7", #"{"offerId":"S123456789_US","expiresAt":\#(end + 2)}"#)
        bench.register("7", for: number)
        bench.time.advance(milliseconds: 10_000)
        let renewed = bench.register("7", for: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(renewed) == "PURCHASE_OWNERSHIP_UNCHANGED true S123456789_US")
    }

    @Test func anotherOfferOfTheSameSubscriptionIsAnUpgrade() throws {
        let bench = Bench()
        let number = try bench.number(of: ana)
        bench.register("7", for: number)
        bench.time.advance(milliseconds: 1_000)
        try bench.tell("8", #"{"originalTransactionId":"7","offerId":"S222222222_US"}"#)
        let started = bench.register("8", for: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started) == "PURCHASE_REGISTERED true S222222222_US")
        #expect(try bench.entitlements(ana) == ["S123456789_US terminated", "S222222222_US active"])
        #expect(try bench.control("GET", "/_simulator/stats")["upgrades"] == .int(1))
    }

    /// Both at the same time: the one that came first has it.
    @Test func registrationsAndPaymentsTakeEffectInTheOrderOfTheirTimesAndThenOfArrival() throws {
        let bench = Bench()
        let number = try bench.number(of: ben)
        bench.pay(ana, "7")
        let second = bench.register("7", for: number)
        bench.time.advance(milliseconds: 60_000)
        #expect(bench.state(second) == "PURCHASE_OWNERSHIP_UNCHANGED false S123456789_US")
        let first = bench.register("8", for: number)
        bench.pay(ana, "8")
        bench.time.advance(milliseconds: 60_000)
        #expect(bench.state(first) == "PURCHASE_REGISTERED true S123456789_US")
        #expect(try bench.entitlements(ben) == ["S123456789_US terminated"])
        #expect(try bench.entitlements(ana) == ["S123456789_US active", "S123456789_US active"])
    }
}
