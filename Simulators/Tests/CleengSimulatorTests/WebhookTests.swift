import Testing

@testable import CleengSimulator

@Suite struct WebhookTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    @Test func aGrantTellsOfTheValidationAndOfTheSubscription() throws {
        let bench = try Bench.telling()
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 999)
        #expect(bench.told() == [])
        bench.time.advance(milliseconds: 1)
        let events = bench.events()
        #expect(events.map(\.topic) == [.validationSucceeded, .subscriptionCreated])
        // A month after the grant, written an hour ahead.
        let end = #""expirationDate":"2027-02-14T09:00:01+01:00""#
        #expect(
            events.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"broadcasterId":123456789,"data":{"active":true,"customerId":100000001,\#(end),"inTrial":false,"#
                    + #""offerId":"S123456789_US","offerType":"subscription","paymentGateway":"apple","#
                    + #""result":"SubscriptionCreated","subscriptionId":1000001},"topic":"inappPurchaseValidationSucceeded"}"#,
                #"{"broadcasterId":123456789,"data":{"customerId":100000001,\#(end),"offerId":"S123456789_US","#
                    + #""offerType":"subscription","paymentGateway":"apple","subscriptionId":1000001},"#
                    + #""topic":"subscriptionCreated"}"#,
            ])
    }

    @Test func aTransferNamesThePreviousOwnerThenEndsTheOldAndBeginsTheNew() throws {
        let bench = try Bench.telling()
        for email in [ana, ben] {
            bench.pay(email, receipt: "sub-7-a")
            bench.time.advance(milliseconds: 1_000)
        }
        let events = bench.events().dropFirst(2)
        #expect(events.map(\.topic) == [.validationSucceeded, .subscriptionTerminated, .subscriptionCreated])
        let data = events.map { AnyJSON.parse($0.body)?["data"] }
        #expect(data[0]?["result"] == .string("SubscriptionTransferred"))
        #expect(data[0]?["prevCustomerId"] == .int(100_000_001))
        #expect(data[0]?["prevSubscriptionId"] == .int(1_000_001))
        #expect(data.map { $0?["customerId"] } == [.int(100_000_002), .int(100_000_001), .int(100_000_002)])
        #expect(data.map { $0?["subscriptionId"] } == [.int(1_000_002), .int(1_000_001), .int(1_000_002)])
    }

    @Test func aRepeatIsSynchronizedButNotBeforeWhatItRepeatsIsGranted() throws {
        let bench = try Bench.telling()
        bench.pay(ana, receipt: "sub-7-a")
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        let both = ["SubscriptionCreated \(ana)", "subscriptionCreated \(ana)", "SubscriptionSynchronized \(ana)"]
        #expect(bench.told() == both)
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 999)
        #expect(bench.told() == [])
        bench.time.advance(milliseconds: 1)
        #expect(bench.told() == ["SubscriptionSynchronized \(ana)"])
    }

    @Test func whoLosesItBeforeTheRepeatIsLookedAtIsToldNothingOfIt() throws {
        let bench = try Bench.telling()
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        bench.pay(ana, receipt: "sub-7-a")
        bench.pay("ben+after-500ms@example.test", receipt: "sub-7-a")
        #expect(bench.told().count == 2)
        bench.time.advance(milliseconds: 5_000)
        let bens = "ben+after-500ms@example.test"
        #expect(
            bench.told() == [
                "SubscriptionTransferred \(bens)", "subscriptionTerminated \(ana)", "subscriptionCreated \(bens)",
            ])
    }

    @Test func aTerminatedOneOfTheSameCustomerIsRevivedAndOneOfAnotherCreated() throws {
        let bench = try Bench.telling()
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        bench.notify(Notices.signed("REFUND", signedAt: 10))
        #expect(bench.told().last == "subscriptionTerminated \(ana)")
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told() == ["SubscriptionRevived \(ana)"])
        bench.notify(Notices.signed("REFUND", signedAt: 20))
        bench.pay(ben, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        #expect(
            bench.told() == [
                "subscriptionTerminated \(ana)", "SubscriptionCreated \(ben)", "subscriptionCreated \(ben)",
            ])
    }

    @Test func anUpgradeEndsTheOldOfferAndBeginsTheNew() throws {
        let bench = try Bench.telling()
        for offer in ["S123456789_US", "S987654321_US"] {
            bench.pay(ana, offer: offer, receipt: "sub-7-a")
            bench.time.advance(milliseconds: 1_000)
        }
        let events = bench.events().dropFirst(2)
        #expect(events.map(\.topic) == [.validationSucceeded, .subscriptionTerminated, .subscriptionCreated])
        #expect(
            events.map { AnyJSON.parse($0.body)?["data"]?["offerId"]?.string } == [
                "S987654321_US", "S123456789_US", "S987654321_US",
            ])
    }

    @Test func anEndIsToldOnceWhoeverCausedIt() throws {
        let bench = try Bench.telling()
        bench.pay(ana, receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told().count == 2)
        bench.notify(Notices.signed("EXPIRED", signedAt: 10))
        bench.notify(Notices.signed("REFUND", signedAt: 11))
        bench.notify(Notices.signed("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", signedAt: 12))
        #expect(bench.told() == ["subscriptionTerminated \(ana)"])
        bench.notify(Notices.signed("DID_RENEW", signedAt: 13))
        bench.notify(Notices.signed("DID_FAIL_TO_RENEW", signedAt: 14, end: 60))
        #expect(bench.told() == [])
        bench.time.advance(milliseconds: 60_000)
        #expect(bench.told() == ["subscriptionTerminated \(ana)"])
    }

    @Test func whatIsDoneByHandIsToldWithoutAValidation() throws {
        let bench = try Bench.telling()
        let path = "/_simulator/customers/\(ana)/entitlements"
        try bench.control("POST", path, #"{"offerId":"S123456789_US","originalTransactionId":"7"}"#)
        #expect(bench.told() == ["subscriptionCreated \(ana)"])
        for _ in 0..<2 { try bench.control("POST", path, #"{"offerId":"S123456789_US","status":"terminated"}"#) }
        #expect(bench.told() == ["subscriptionTerminated \(ana)"])
    }

    @Test func whatIsGrantedTerminatedIsNotActiveAndDoesNotBegin() throws {
        let bench = try Bench.telling()
        bench.pay("ana+terminated@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        let events = bench.events()
        #expect(events.map(\.topic) == [.validationSucceeded])
        #expect(AnyJSON.parse(events[0].body)?["data"]?["active"] == .bool(false))
    }
}
