import Testing

@testable import CleengSimulator

@Suite struct NotificationEffectTests {
    /// What an active and a terminated entitlement become.
    @Test(
        arguments: [
            ("REFUND", nil, ["terminated", "terminated"]),
            ("REVOKE", nil, ["terminated", "terminated"]),
            ("EXPIRED", "VOLUNTARY", ["terminated", "terminated"]),
            ("GRACE_PERIOD_EXPIRED", nil, ["terminated", "terminated"]),
            ("SUBSCRIBED", "RESUBSCRIBE", ["active", "active"]),
            ("DID_RENEW", nil, ["active", "active"]),
            ("REFUND_REVERSED", nil, ["active", "active"]),
            ("RENEWAL_EXTENDED", nil, ["active", "active"]),
            ("OFFER_REDEEMED", "UPGRADE", ["active", "active"]),
            ("DID_CHANGE_RENEWAL_PREF", "UPGRADE", ["active", "active"]),
            ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", ["active", "terminated"]),
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", ["cancelled", "terminated"]),
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", ["active", "terminated"]),
            ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", ["active", "terminated"]),
            ("DID_FAIL_TO_RENEW", nil, ["active", "terminated"]),
            ("PRICE_INCREASE", "PENDING", ["active", "terminated"]),
        ] as [(String, String?, [String?])])
    func anEntitlementFollows(type: String, subtype: String?, expected: [String?]) throws {
        var statuses: [String?] = []
        for isTerminated in [false, true] {
            let bench = Bench.granted()
            if isTerminated { bench.notify(Notices.signed("EXPIRED", signedAt: 1)) }
            #expect(bench.notify(Notices.signed(type, subtype)).status == 200)
            statuses.append(try bench.status())
        }
        #expect(statuses == expected)
    }

    @Test(arguments: [
        ("REFUND", "terminated"), ("CANCEL", "terminated"), ("REVOKE", "terminated"),
        ("DID_CHANGE_RENEWAL_STATUS", "active"),
    ])
    func versionOneIsActedOnToo(type: String, status: String) throws {
        let bench = Bench.granted()
        bench.notify(Notices.unsigned(type))
        #expect(try bench.status() == status)
    }

    @Test(arguments: ["DID_RENEW", "DID_RECOVER", "INTERACTIVE_RENEWAL", "INITIAL_BUY"])
    func versionOneGivesBackUntilItsLatestEnd(type: String) throws {
        let bench = Bench.granted()
        bench.notify(Notices.unsigned("CANCEL"))
        bench.notify(Notices.unsigned(type))
        #expect(try bench.status() == "active")
        #expect(bench.end() == 5_000)
    }

    @Test func aRenewalMovesTheEndAndAnEndThatIsNotToldStays() {
        let bench = Bench.granted()
        bench.notify(Notices.signed("DID_RENEW", signedAt: 10, end: 7_000))
        #expect(bench.end() == 7_000)
        bench.notify(Notices.signed("REFUND_REVERSED", signedAt: 11, end: nil))
        #expect(bench.end() == 7_000)
    }

    @Test func whatIsOlderThanTheLastOneChangesNothing() throws {
        let bench = Bench.granted()
        bench.notify(Notices.signed("REFUND", signedAt: 20))
        bench.notify(Notices.signed("DID_RENEW", signedAt: 19, end: 7_000))
        #expect(try bench.status() == "terminated")
        // What is only recorded makes nothing else old.
        bench.notify(Notices.signed("PRICE_INCREASE", "PENDING", signedAt: 90))
        bench.notify(Notices.signed("REFUND_REVERSED", signedAt: 20))
        #expect(try bench.status() == "active")
        bench.notify(Notices.unsigned("CANCEL"))
        #expect(try bench.status() == "terminated")
    }

    @Test func whatWasNotPaidForEndsWhenItsTimeIsUp() throws {
        let bench = Bench.granted()
        bench.notify(Notices.signed("DID_FAIL_TO_RENEW", end: 100))
        bench.time.advance(milliseconds: 99_999)
        #expect(try bench.status() == "active")
        bench.time.advance(milliseconds: 1)
        #expect(try bench.status() == "terminated")
        bench.notify(Notices.signed("DID_RENEW", signedAt: 200))
        #expect(try bench.status() == "active")
        // The end has passed already.
        bench.notify(Notices.signed("DID_FAIL_TO_RENEW", signedAt: 300, end: 50))
        #expect(try bench.status() == "terminated")
    }

    @Test(arguments: ["DID_RENEW", "DID_FAIL_TO_RENEW"])
    func aLateRenewalOrGraceKeepsItRunning(type: String) throws {
        let bench = Bench.granted()
        bench.notify(Notices.signed("DID_FAIL_TO_RENEW", signedAt: 10, end: 100))
        bench.notify(Notices.signed(type, "GRACE_PERIOD", signedAt: 11))
        bench.time.advance(milliseconds: 1_000_000)
        #expect(try bench.status() == "active")
    }

    @Test func aNewPurchaseOfTheSameSubscriptionDoesNotLapseWithTheOld() throws {
        let bench = Bench.granted()
        bench.notify(Notices.signed("DID_FAIL_TO_RENEW", end: 100))
        bench.pay("ben+after-50s@example.test", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 1_000_000)
        #expect(try bench.status() == "terminated")
        #expect(try bench.status("ben+after-50s@example.test") == "active")
    }

    @Test func onlyTheSubscriptionThatItNamesIsTouched() throws {
        let bench = Bench.granted()
        bench.pay("ben+after-0@example.test", receipt: "sub-8-a")
        bench.pay("cia+after-60s@example.test", receipt: "sub-9-a")
        for id in ["8", "9", "unheard-of"] { #expect(bench.notify(Notices.signed("REFUND", of: id)).status == 200) }
        #expect(try bench.status() == "active")
        #expect(try bench.status("ben+after-0@example.test") == "terminated")
        bench.time.advance(milliseconds: 60_000)
        #expect(try bench.status("cia+after-60s@example.test") == "active")
    }

    @Test func theSubscriptionRemembersWhy() throws {
        let bench = Bench.granted()
        bench.notify(Notices.signed("DID_RENEW", signedAt: 10))
        bench.notify(Notices.signed("DID_FAIL_TO_RENEW", signedAt: 11, end: 100))
        func subscription() throws -> AnyJSON? {
            let page = try bench.control("GET", "/_simulator/subscriptions?originalTransactionId=7")
            if case .array(let items) = page["items"] { return items.first }
            return nil
        }
        #expect(try subscription()?["lapsesAt"] == .string("2027-01-15T08:01:40.000Z"))
        bench.time.advance(milliseconds: 200_000)
        let last = try subscription()
        guard case .array(let history) = last?["history"] else {
            Issue.record("no history")
            return
        }
        #expect(history.map { $0["event"]?.string } == ["created", "notified", "lapsed"])
        #expect(history.last?["at"] == .string("2027-01-15T08:01:40.000Z"))
        #expect(last?["status"] == .string("terminated"))
        #expect(last?["lapsesAt"] == nil)
    }
}
