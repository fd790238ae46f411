import Testing

@testable import CleengSimulator

/// StoreKit 2 purchases that are to go to another customer.
@Suite struct PurchaseTransferTests {
    private let ana = "ana@example.test"
    private let ben = "ben+after-3s@example.test"

    private func owned() throws -> Bench {
        let bench = Bench()
        bench.pay(ana, "7", offer: "S598742062_US")
        bench.time.advance(milliseconds: 1_000)
        return bench
    }

    @Test func anActivePurchaseMovesWhenTheTransferIsFinalized() throws {
        let bench = try owned()
        let end = bench.end(ana)
        let started = bench.move("7", to: try bench.number(of: ben))
        #expect(started.status == 202)
        bench.time.advance(milliseconds: 2_999)
        #expect(bench.state(started) == "processing")
        #expect(try bench.entitlements(ana) == ["S598742062_US active"])
        bench.time.advance(milliseconds: 1)
        #expect(bench.state(started) == "PURCHASE_OWNERSHIP_TRANSFERRED true S598742062_US")
        #expect(try bench.entitlements(ana) == ["S598742062_US terminated"])
        #expect(try bench.entitlements(ben) == ["S598742062_US active"])
        // What was paid for ends when it ended before.
        #expect(bench.end(ben) == end)
        #expect(try bench.control("GET", "/_simulator/stats")["transfers"] == .int(1))
        let page = try bench.control("GET", "/_simulator/subscriptions?originalTransactionId=7")
        guard case .array(let items) = page["items"], case .array(let history) = items.first?["history"] else {
            Issue.record("no history")
            return
        }
        #expect(history.map { $0["event"]?.string } == ["created", "transferred"])
        #expect(history.last?["from"] == .string(ana))
        #expect(items.first?["customerEmail"] == .string(ben))
    }

    @Test func oneThatWillNotRenewMovesAsItIs() throws {
        let bench = try owned()
        bench.notify(Notices.signed("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"))
        bench.move("7", to: try bench.number(of: ben))
        bench.time.advance(milliseconds: 3_000)
        #expect(try bench.entitlements(ben) == ["S598742062_US cancelled"])
    }

    @Test func whoOwnsItAlreadyKeepsIt() throws {
        let bench = try owned()
        let started = bench.move("7", to: try bench.number(of: ana))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(started) == "PURCHASE_OWNERSHIP_UNCHANGED true S598742062_US")
        #expect(try bench.entitlements(ana) == ["S598742062_US active"])
    }

    @Test func oneThatHasEndedStaysWhereItIs() throws {
        let bench = try owned()
        bench.notify(Notices.signed("REFUND"))
        let started = bench.move("7", to: try bench.number(of: ben))
        bench.time.advance(milliseconds: 3_000)
        #expect(bench.state(started) == "RECEIVED_EXPIRED_PURCHASE false S598742062_US")
        #expect(try bench.entitlements(ben) == [])
    }

    @Test func oneThatNobodyEverHadIsNotFoundAndOneThatIsOverIsOver() throws {
        let bench = Bench()
        try bench.tell("8", #"{"offerId":"S123456789_US","expiresAt":5}"#)
        let number = try bench.number(of: ana)
        let (unknown, over) = (bench.move("7", to: number), bench.move("8", to: number))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.state(unknown) == "TRANSACTION_ID_NOT_FOUND false S123456789_US")
        #expect(bench.state(over) == "RECEIVED_EXPIRED_PURCHASE false S123456789_US")
        #expect(try bench.entitlements(ana) == [])
    }

    @Test func aRegistrationOfAnotherIsFollowedByATransfer() throws {
        let bench = try owned()
        let number = try bench.number(of: ben)
        let refused = bench.register("7", for: number)
        #expect(Bench.code(bench.move("7", to: number)) == "409 SK2C0103")
        bench.time.advance(milliseconds: 3_000)
        #expect(bench.state(refused) == "PURCHASE_OWNERSHIP_UNCHANGED false S598742062_US")
        let moved = bench.move("7", to: number)
        bench.time.advance(milliseconds: 3_000)
        #expect(bench.state(moved) == "PURCHASE_OWNERSHIP_TRANSFERRED true S598742062_US")
        // The earlier one still says what it said.
        #expect(bench.state(refused) == "PURCHASE_OWNERSHIP_UNCHANGED false S598742062_US")
    }
}
