import AppStoreSimulation
import Foundation
import Testing

@Suite("A life as lines of text")
struct LifeCommandTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000.25)

    private func moment(_ seconds: Double) -> Date { Self.start.addingTimeInterval(seconds) }

    private func refusal(_ line: String) -> String? {
        do {
            _ = try LifeCommand(line)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func eachFormIsACommand() throws {
        for form in LifeCommand.forms {
            let name = form.split(separator: " ")[0]
            #expect(throws: Never.self) { try LifeCommand(form.replacing("[grace]", with: "grace")) }
            #expect(refusal("\(name) one two") == "it is written: \(form)")
        }
        #expect(try LifeCommand("  fail\t") == .event(.fail(hasGrace: false)))
        #expect(try LifeCommand("fail grace\r") == .event(.fail(hasGrace: true)))
        #expect(
            try LifeCommand("upgrade com.example.app.yearly") == .event(.upgrade(productId: "com.example.app.yearly")))
        #expect(try LifeCommand("turn-off") == .event(.turn(.off)))
    }

    @Test func anEventCanBeLost() throws {
        #expect(try LifeCommand("renew --lost") == .lost(.renew))
        #expect(try LifeCommand("fail grace --lost") == .lost(.fail(hasGrace: true)))
        #expect(try LifeCommand("upgrade --lost --lost") == .lost(.upgrade(productId: "--lost")))
        #expect(refusal("receipt --lost") == "only a notification can be lost")
        #expect(refusal("--lost") == "unknown command --lost, see help")
        #expect(refusal("--lost renew") == "unknown command --lost, see help")
    }

    @Test func whatIsNoCommandIsSaid() {
        #expect(refusal("buys") == "unknown command buys, see help")
        #expect(refusal("BUY") == "unknown command BUY, see help")
        #expect(refusal("upgrade") == "it is written: upgrade PRODUCT")
        #expect(refusal("fail later") == "it is written: fail [grace]")
    }

    @Test func noEventPrecedesThePurchase() {
        var life = SimulatedSubscription(firstTransactionId: 1)
        for form in LifeCommand.forms where form != "buy" {
            guard case .event(let event) = try? LifeCommand(form.replacing("[grace]", with: "")) else { continue }
            #expect(life.objection(to: event, at: Self.start)?.description == "nothing was bought yet")
            #expect(life.earliest(for: event) == nil)
            #expect(throws: LifeError.self) { try life.happen(event, at: Self.start) }
        }
        #expect(throws: LifeError.self) { try life.newest }
    }

    @Test func impossibleEventsAreRefusedAndChangeNothing() throws {
        var life = SimulatedSubscription(firstTransactionId: 1, productId: "month", period: 60)
        func refused(_ event: LifeEvent, _ seconds: Double) -> String? {
            life.objection(to: event, at: moment(seconds))?.description
        }
        _ = try life.happen(.buy, at: moment(0))
        #expect(refused(.buy, 1) == "it was bought already")
        #expect(refused(.graceEnded, 1) == "there is no grace")
        #expect(refused(.recover, 1) == "no payment has failed")
        #expect(refused(.reverseRefund, 1) == "the newest period was not refunded")
        #expect(refused(.resubscribe, 1) == "it has not ended")
        #expect(refused(.upgrade(productId: "month"), 1) == "that is the product already")
        #expect(refused(.turn(.on), 1) == "renewal is turned on")
        _ = try life.happen(.fail(hasGrace: true), at: moment(2))
        #expect(refused(.renew, 60) == "the payment has failed")
        _ = try life.happen(.recover, at: moment(62))
        _ = try life.happen(.turn(.off), at: moment(63))
        #expect(refused(.renew, 120) == "renewal is turned off")
        _ = try life.happen(.refund, at: moment(64))
        #expect(refused(.turn(.on), 65) == "it was taken back")
        #expect(refused(.refund, 65) == "it was taken back")
        _ = try life.happen(.reverseRefund, at: moment(66))
        _ = try life.happen(.expire, at: moment(120))
        #expect(refused(.expire, 121) == "it has ended")
        #expect(refused(.resubscribe, 121) == nil)
        #expect(life.transactions.count == 2)
        #expect(throws: LifeError.self) { try life.happen(.renew, at: moment(121)) }
        #expect(life.transactions.count == 2)
    }

    @Test func purchasesHaveWholeSecondsAndStatementsDoNot() throws {
        var life = SimulatedSubscription(firstTransactionId: 1, productId: "month", period: 6)
        let bought = try life.happen(.buy, at: moment(0))
        #expect(bought.signedDate == moment(0))
        #expect(bought.transaction?.purchaseDate == moment(-0.25))
        #expect(life.earliest(for: .renew) == moment(5.75))
        #expect(life.earliest(for: .expire) == moment(5.75))
        #expect(life.earliest(for: .refund) == nil)
        #expect(life.earliest(for: .upgrade(productId: "year")) == moment(0.75))
        let upgraded = try life.happen(.upgrade(productId: "year"), at: moment(0.8))
        #expect(upgraded.transaction?.purchaseDate == moment(0.75))
        #expect(upgraded.transaction?.expiresDate == moment(6.75))
        let failed = try life.happen(.fail(hasGrace: true), at: moment(2))
        #expect(failed.renewal?.gracePeriodExpiresDate == moment(12.75), "a period long")
    }

    @Test func aLifeHasTheAppStoresNotifications() throws {
        var life = SimulatedSubscription(firstTransactionId: 1, productId: "month", period: 6)
        let told = try [
            ("buy", 0), ("downgrade week", 1), ("downgrade month", 2), ("renew", 6), ("fail grace", 7),
            ("grace-ended", 13), ("recover", 14), ("upgrade year", 15), ("turn-off", 16), ("turn-on", 17),
            ("refund", 18),
            ("reverse-refund", 19), ("fail", 21), ("expire", 27), ("resubscribe", 28), ("revoke", 29),
        ].map { line, seconds in
            guard case .event(let event) = try LifeCommand(line) else { return "no event" }
            let told = try life.happen(event, at: moment(Double(seconds)))
            return [told.notificationType, told.subtype].compactMap(\.self).joined(separator: " ")
        }
        #expect(
            told == [
                "SUBSCRIBED INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF DOWNGRADE", "DID_CHANGE_RENEWAL_PREF", "DID_RENEW",
                "DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "DID_RENEW BILLING_RECOVERY",
                "DID_CHANGE_RENEWAL_PREF UPGRADE", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED", "REFUND", "REFUND_REVERSED", "DID_FAIL_TO_RENEW",
                "EXPIRED BILLING_RETRY", "SUBSCRIBED RESUBSCRIBE", "REVOKE",
            ])
    }
}
