import RelayCore
import Testing

@testable import AppleStore

@Suite("A refund of seats")
struct SeatRefundTests {
    private static let now = Timestamp(microseconds: FutureNotification.now * 1_000)

    /// - Parameter later: seconds by which the notification is signed later than the others.
    private func word(_ notification: FutureNotification, later: Int64 = 0) throws -> LedgerStatement? {
        var notification = notification
        let signed = AppleField.number(FutureNotification.now + later * 1_000)
        notification.payload["signedDate"] = signed
        notification.transaction["signedDate"] = signed
        notification.renewal["signedDate"] = signed
        return try SignedNotification(notification.text()).notification().word
    }

    private func seats(status: Int64 = 1) -> FutureNotification {
        var notification = FutureNotification.refund
        notification.payload["subtype"] = "SEATS"
        notification.object["status"] = .number(status)
        return notification
    }

    private func status(_ words: [LedgerStatement]) -> SubscriptionStanding.Status? {
        var ledger = SubscriptionLedger()
        for word in words { ledger.apply(word) }
        return ledger.standing(at: Self.now + .seconds(60), leeway: .seconds(3_600))?.status
    }

    @Test("ends no access, whatever status comes with it", arguments: [1, 2, 5] as [Int64])
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

    @Test("of a consumable says nothing")
    func consumable() throws {
        var notification = seats()
        notification.transaction["type"] = "Consumable"
        notification.transaction["expiresDate"] = nil
        notification.renewal = [:]
        #expect(try word(notification) == nil)
    }
}
