import Testing

@testable import CleengSimulator

/// What is told of StoreKit 2 purchases.
@Suite struct StoreKit2WebhookTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    @Test func aRegistrationTellsItsResultThenOfTheSubscriptionAndOfNoValidation() throws {
        let bench = try Bench.telling()
        try bench.tell("8", #"{"originalTransactionId":"7","offerId":"S111111111_US"}"#)
        bench.register(
            "8", for: try bench.number(of: ana), correlationId: "6f1c1f0e-0000-4000-8000-000000000001")
        bench.time.advance(milliseconds: 999)
        #expect(bench.told() == [])
        bench.time.advance(milliseconds: 1)
        let events = bench.events()
        #expect(events.map(\.topic) == [.synchronizationResult, .subscriptionCreated])
        #expect(
            events.first.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"broadcasterId":123456789,"data":{"accessGranted":true,"cleengCustomerId":100000001,"#
                + #""offerId":"S111111111_US","originalTransactionId":"7","result":"PURCHASE_REGISTERED","#
                + #""synchronizationId":"6f1c1f0e-0000-4000-8000-000000000001","transactionId":"8"},"#
                + #""topic":"inappPurchaseSyncResult"}"#)
        let created = events.last.flatMap { AnyJSON.parse($0.body)?["data"] }
        #expect(created?["customerId"] == .int(100_000_001))
        #expect(created?["offerId"] == .string("S111111111_US"))
    }

    @Test func aTransferAlsoEndsTheOldOne() throws {
        let bench = try Bench.telling()
        bench.register(for: try bench.number(of: ana))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told() == ["PURCHASE_REGISTERED \(ana)", "subscriptionCreated \(ana)"])
        bench.move(to: try bench.number(of: ben))
        bench.time.advance(milliseconds: 1_000)
        #expect(
            bench.told() == [
                "PURCHASE_OWNERSHIP_TRANSFERRED \(ben)", "subscriptionTerminated \(ana)", "subscriptionCreated \(ben)",
            ])
    }

    @Test func whatMakesNoSubscriptionTellsItsResultAlone() throws {
        let bench = try Bench.telling()
        let unknown = "cia+storekit2-unknown@example.test"
        let anas = try bench.number(of: ana)
        bench.register(for: anas)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told().count == 2)
        for (number, transaction) in [
            (anas, "1001"), (try bench.number(of: ben), "1001"), (try bench.number(of: unknown), "2"),
        ] {
            bench.register(transaction, for: number)
            bench.time.advance(milliseconds: 1_000)
        }
        let events = bench.events()
        let data = events.map { AnyJSON.parse($0.body)?["data"] }
        #expect(events.map(\.email.text) == [ana, ben, unknown])
        #expect(
            data.map { $0?["result"]?.string } == [
                "PURCHASE_OWNERSHIP_UNCHANGED", "PURCHASE_OWNERSHIP_UNCHANGED", "TRANSACTION_ID_NOT_FOUND",
            ])
        #expect(data.map { $0?["accessGranted"] } == [.bool(true), .bool(false), .bool(false)])
    }

    @Test func oneThatHadEndedBeginsAnew() throws {
        let bench = try Bench.telling()
        let number = try bench.number(of: ana)
        bench.register("7", for: number)
        bench.time.advance(milliseconds: 1_000)
        bench.notify(Notices.signed("REFUND"))
        #expect(bench.told().last == "subscriptionTerminated \(ana)")
        bench.register("7", for: number)
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told() == ["PURCHASE_REGISTERED \(ana)", "subscriptionCreated \(ana)"])
    }

    @Test func whatIsRefusedOrNeverFinalizedTellsNothing() throws {
        let bench = try Bench.telling()
        bench.register("1", for: try bench.number(of: "ana+never@example.test"))
        bench.register("2", for: try bench.number(of: "ben+flaky@example.test"))
        bench.register("3", for: 999)
        bench.time.advance(milliseconds: 86_400_000)
        #expect(bench.told() == [])
    }

    @Test func theMannerOfEventsCountsForTheseToo() throws {
        let bench = try Bench.telling()
        bench.register("1", for: try bench.number(of: "ana+webhook-lost@example.test"))
        bench.register("2", for: try bench.number(of: "ben+webhook-twice+webhook-late-2s@example.test"))
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.told() == [])
        bench.time.advance(milliseconds: 2_000)
        #expect(
            bench.events().map(\.topic) == [
                .synchronizationResult, .synchronizationResult, .subscriptionCreated, .subscriptionCreated,
            ])
    }
}
