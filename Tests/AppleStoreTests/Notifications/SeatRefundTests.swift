import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("A refund of seats")
struct SeatRefundTests {
    private static let now = Timestamp(microseconds: FutureNotification.now * 1_000)

    /// - Parameter later: seconds between the other notifications' signatures and this one's.
    private func word(_ notification: FutureNotification, later: Int64 = 0) throws -> LedgerStatement? {
        var notification = notification
        let signed = AppleField.number(FutureNotification.now + later * 1_000)
        notification.payload["signedDate"] = signed
        notification.transaction["signedDate"] = signed
        notification.renewal["signedDate"] = signed
        return try SignedNotification(notification.text()).notification().statement
    }

    private func seats(status: Int64 = 1) -> FutureNotification {
        var notification = FutureNotification.refund
        notification.payload["subtype"] = "SEATS"
        notification.object["status"] = .number(status)
        return notification
    }

    private func status(_ words: [LedgerStatement]) -> SubscriptionState.Status? {
        var ledger = SubscriptionLedger()
        for word in words { ledger.apply(word) }
        return ledger.state(at: Self.now + .seconds(60), leeway: .seconds(3_600))?.status
    }

    @Test("ends no access, whatever its status", arguments: [1, 2, 5] as [Int64])
    func endsNothing(status code: Int64) throws {
        let bought = try #require(try word(.purchase("SUBSCRIBED", "INITIAL_BUY")))
        let refund = try #require(try word(seats(status: code), later: 10))
        #expect(status([refund]) == .active)
        #expect(status([bought, refund]) == .active)
        #expect(status([refund, bought]) == .active)
    }

    @Test("does not reverse an earlier refund of the whole transaction")
    func reversesNothing() throws {
        let refund = try #require(try word(.refund))
        let seats = try #require(try word(seats(), later: 10))
        #expect(status([refund, seats]) == .revoked)
        #expect(status([seats, refund]) == .revoked)
    }

    @Test("of a consumable has no effect")
    func consumable() throws {
        var notification = seats()
        notification.transaction["type"] = "Consumable"
        notification.transaction["expiresDate"] = nil
        notification.renewal = [:]
        #expect(try word(notification) == nil)
    }

    /// The App Store's answer to a query.
    private func answer(_ notification: FutureNotification, status: Int64) throws -> LedgerStatement? {
        let transaction = FutureNotification.unsigned(try JSONEncoder().encode(notification.transaction))
        return try SignedStatus(transaction: transaction, renewal: nil, status: .init(rawValue: status)).statement
    }

    @Test("ends no access if the App Store's answer is active")
    func asked() throws {
        let bought = try #require(try word(.purchase("SUBSCRIBED", "INITIAL_BUY")))
        let refund = try word(.refund)
        let states: [(Int64, SubscriptionState.Status)] = [(1, .active), (4, .active), (5, .revoked)]
        for (code, expected) in states {
            let told = try #require(try answer(.refund, status: code))
            #expect(status([bought, told]) == expected, "\(code)")
        }
        #expect(status([try #require(refund), try #require(try answer(.refund, status: 5))]) == .revoked)
    }

    @Test("of added seats ends only those seats, in every message", arguments: ["REFUND", "REVOKE", "SUBSCRIBED"])
    func addition(type: String) throws {
        let bought = try #require(try word(.purchase("SUBSCRIBED", "INITIAL_BUY")))
        var addition = FutureNotification.refund
        addition.payload["notificationType"] = .text(type)
        addition.transaction["transactionId"] = "900000000000777"
        addition.transaction["additionalTransactionReason"] = "SEAT_ADDITION"
        #expect(try word(addition, later: 10) == nil)
        #expect(status([bought, try #require(try answer(addition, status: 1))]) == .active)
        #expect(try #require(try answer(addition, status: 5)).periods.isEmpty)
    }
}
