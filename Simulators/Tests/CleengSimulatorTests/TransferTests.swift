import Testing

@testable import CleengSimulator

@Suite struct TransferTests {
    @Test func anotherEmailTakesTheSubscriptionOverWhenItsGrantComes() throws {
        let bench = Bench()
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 5_000)
        bench.pay("ben+after-3s@example.test", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 2_999)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
        #expect(try bench.entitlements("ben+after-3s@example.test") == [])
        bench.time.advance(milliseconds: 1)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US terminated"])
        #expect(try bench.entitlements("ben+after-3s@example.test") == ["S123456789_US active"])
        #expect(try bench.control("GET", "/_simulator/stats")["transfers"] == .int(1))
    }

    @Test func anUnreadableReceiptIsKnownByItsTransactionId() throws {
        let bench = Bench()
        bench.pay("ana@example.test", "42", receipt: "unreadable")
        bench.pay("ben@example.test", "43", receipt: "unreadable")
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
        bench.pay("cia@example.test", "42", receipt: "unreadable too")
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US terminated"])
        #expect(try bench.entitlements("ben@example.test") == ["S123456789_US active"])
    }

    /// Ana pays with a long delay, Ben at once; Ana's grant comes last and hands the subscription back: in the order
    /// of the grants, not of the payments.
    @Test func transfersTakeEffectInTheOrderOfTheirGrants() throws {
        let bench = Bench()
        bench.pay("ana+after-10s@example.test", receipt: "sub-7-a")
        bench.pay("ben+after-1s@example.test", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 60_000)
        #expect(try bench.entitlements("ben+after-1s@example.test") == ["S123456789_US terminated"])
        #expect(try bench.entitlements("ana+after-10s@example.test") == ["S123456789_US active"])
        let page = try bench.control("GET", "/_simulator/subscriptions?originalTransactionId=7")
        guard case .array(let items) = page["items"], case .array(let history) = items.first?["history"] else {
            Issue.record("no history")
            return
        }
        #expect(history.map { $0["event"]?.string } == ["created", "transferred"])
        #expect(items.first?["customerEmail"] == .string("ana+after-10s@example.test"))
    }

    /// Ana is granted, Ben's transfer is still to come, and Ana sends her receipt once more after him: she is the last
    /// word, so she ends up with it.
    @Test func aRepeatAfterAnothersPaymentIsNoRepeat() throws {
        let bench = Bench()
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 2_000)
        bench.pay("ben@example.test", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 500)
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 2_000)
        #expect(
            try bench.entitlements("ana@example.test") == ["S123456789_US terminated", "S123456789_US active"])
        #expect(try bench.entitlements("ben@example.test") == ["S123456789_US terminated"])
    }

    @Test func aPaymentThatIsNeverGrantedTakesNothingAway() throws {
        let bench = Bench()
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 2_000)
        bench.pay("ben+never@example.test", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 86_400_000)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
        #expect(try bench.entitlements("ben+never@example.test") == [])
    }
}
