import Foundation
import NIOHTTP1
import Testing

/// The same purchase is one validation and one forward, however often and wherever it is posted.
@Suite(.serialized) struct IntakeSamePurchaseTests {
    @Test func fiftySimultaneousCopiesOverOneRelayAreOneValidation() async throws {
        try await Setup.run(grantAfter: 0.3) { setup in
            let purchase = TestPurchase(email: "twin@example.test")
            try await Self.sendCopies(of: purchase, to: [setup.relay], setup)
        }
    }

    @Test func fiftySimultaneousCopiesOverTwoRelaysAreOneValidation() async throws {
        try await Setup.run(grantAfter: 0.3) { setup in
            let second = try await Relay.start(
                database: setup.database, simulator: setup.simulator, keys: setup.relay.keys)
            try await second.during {
                let purchase = TestPurchase(email: "pair@example.test")
                try await Self.sendCopies(of: purchase, to: [setup.relay, second], setup)
                // A repeat after the outcome also returns the same validation.
                for relay in [setup.relay, second] {
                    #expect(try await relay.purchase(purchase).status == 200)
                }
                #expect(try await setup.simulator.requests(path: "/apple/payment").count == 1)
            }
        }
    }

    /// Every second copy has the email in capitals, and some have an idempotency key.
    private static func sendCopies(of purchase: TestPurchase, to relays: [Relay], _ setup: Setup) async throws {
        let answers = try await withThrowingTaskGroup(of: HTTP.Answer.self) { group in
            for index in 0..<50 {
                var copy = purchase
                if index.isMultiple(of: 2) { copy.email = " \(purchase.email.uppercased())  " }
                let headers = index.isMultiple(of: 5) ? ["Idempotency-Key": "copy-\(index)"] : [:]
                let (relay, sent) = (relays[index % relays.count], copy)
                group.addTask { try await relay.purchase(sent, headers: headers) }
            }
            return try await group.reduce(into: [HTTP.Answer]()) { $0.append($1) }
        }
        #expect(answers.allSatisfy { [200, 202].contains($0.status) }, "\(Set(answers.map(\.status)))")
        let ids = Set(answers.compactMap { $0.json["validationId"].string })
        #expect(ids.count == 1)
        let id = try #require(ids.first)
        #expect(Set(answers.compactMap { $0.json["deadline"].string }).count == 1)
        #expect(try await setup.relay.outcome(id)["status"].string == "granted")
        #expect(try await setup.count("validations") == 1)
        #expect(try await setup.count("receipts") == 1)
        #expect(try await setup.simulator.requests(path: "/apple/payment").count == 1)
        #expect(try await setup.relay.events(id).filter { $0 == "forwarded" }.count == 1)
    }

    @Test func anotherOfferEmailAppPublisherOrReceiptIsAnotherValidation() async throws {
        try await Setup.run(role: "front") { setup in
            let other = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let elsewhere = try await Relay.makeKey("app", setup.database, publisher: "elsewhere")
            let sameApp = try await Relay.makeKey("app", setup.database)
            try await setup.relay.waitUntilKnown([other, elsewhere, sameApp])
            let purchase = TestPurchase(email: "one@example.test", offer: "S111111111_US")
            func id(_ purchase: TestPurchase, key: String? = nil) async throws -> String {
                let answer = try await setup.relay.purchase(purchase, key: key)
                #expect(answer.status == 202)
                return try #require(answer.json["validationId"].string)
            }
            let first = try await id(purchase)
            var changed = [purchase, purchase, purchase, purchase]
            changed[0].offer = "S222222222_US"
            changed[1].email = "two@example.test"
            changed[2].receipt = TestPurchase.signedTransaction(
                original: purchase.transactionID, transaction: "77", product: "com.example.year")
            changed[3].offer = "s111111111_us"
            var ids = [first, try await id(purchase, key: other), try await id(purchase, key: elsewhere)]
            for variant in changed { ids.append(try await id(variant)) }
            #expect(Set(ids).count == ids.count)
            // Another key of the same app, coupon, address or name does not make another purchase.
            #expect(try await id(purchase, key: sameApp) == first)
            var dressed = purchase
            dressed.extra = ["couponCode": "LATE", "ipAddress": "203.0.113.1", "applicationUsername": "somebody"]
            #expect(try await id(dressed) == first)
        }
    }

    @Test func anEndedPurchaseGetsANewValidationWhenPostedAgain() async throws {
        try await Setup.run { setup in
            func id(_ purchase: TestPurchase) async throws -> String {
                let answer = try await setup.relay.purchase(purchase)
                #expect(answer.status == 202, "\(answer.text)")
                return try #require(answer.json["validationId"].string)
            }
            let refused = TestPurchase(email: "rex+reject-422-1@example.test")
            let rejected = try await id(refused)
            #expect(try await setup.relay.outcome(rejected)["status"].string == "rejected")
            let second = try await id(refused)
            #expect(second != rejected)
            #expect(try await setup.relay.outcome(second)["status"].string == "granted")
            #expect(try await setup.relay.poll(rejected).json["status"].string == "rejected")
            #expect(try await setup.relay.purchase(refused).json["validationId"].string == second)

            let slow = TestPurchase(email: "tim+never@example.test")
            let timedOut = try await id(slow)
            try await setup.database.letDeadlinesCome()
            #expect(try await setup.relay.outcome(timedOut)["status"].string == "timed_out")
            let fresh = try await id(slow)
            #expect(fresh != timedOut)
            // A new validation is already pending, so a repeat returns it.
            #expect(try await id(slow) == fresh)

            let original = TestPurchase.newTransactionID()
            let ana = TestPurchase(email: "ana@example.test", original: original)
            let anas = try await id(ana)
            #expect(try await setup.relay.outcome(anas)["status"].string == "granted")
            let beas = try await id(TestPurchase(email: "bea@example.test", original: original))
            #expect(try await setup.relay.outcome(beas)["status"].string == "granted")
            #expect(try await setup.relay.poll(anas).json["status"].string == "transferred")
            let back = try await id(ana)
            #expect(back != anas)
            #expect(try await setup.relay.outcome(back)["status"].string == "granted")
            #expect(try await setup.relay.poll(beas).json["status"].string == "transferred")
        }
    }
}
