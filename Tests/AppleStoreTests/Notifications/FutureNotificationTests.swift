import AppStoreSimulation
import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Genuine notifications of later versions are accepted")
struct FutureNotificationTests {
    private static let count = 10_000

    private func said(by future: FutureNotification) throws -> (isUnderstood: Bool, StoreNotification) {
        let signed = try SignedNotification(future.text())
        try signed.check(Genuine(isLocal: false), FutureNotification.scope)
        return (signed.isUnderstood, try signed.notification())
    }

    @Test("all of 10,000 are stored; unknown ones change nothing, known ones the same as always")
    func corpus() throws {
        var corpus = FutureNotifications(seed: 20_261_127)
        var understood = 0
        var wrong: [String] = []
        for number in 0..<Self.count {
            let (known, future) = corpus.next()
            do {
                let (isUnderstood, notification) = try said(by: future)
                understood += isUnderstood ? 1 : 0
                let holds = try isUnderstood ? isSame(notification, known) : changesNothing(notification)
                if !holds { wrong.append("\(number): \(future)") }
            } catch {
                wrong.append("\(number) is refused: \(error): \(future)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count), the first: \(wrong.first ?? "")")
        #expect((1_000...Self.count - 1_000).contains(understood), "\(understood) are understood")
    }

    private func changesNothing(_ notification: StoreNotification) -> Bool {
        notification.environment == .unknown && notification.statement == nil && notification.notice == nil
            && notification.consumption == nil
    }

    /// Whether the notification states the same access as the one that this version knows.
    private func isSame(_ notification: StoreNotification, _ known: FutureNotification) throws -> Bool {
        let (_, before) = try said(by: known)
        guard notification.environment != .unknown, (notification.statement == nil) == (before.statement == nil) else {
            return false
        }
        guard let word = notification.statement, let expected = before.statement else { return true }
        return word.periods.elementsEqual(expected.periods, by: isSamePeriod)
            && word.renewal?.willRenew == expected.renewal?.willRenew
            && word.renewal?.isInBillingRetry == expected.renewal?.isInBillingRetry
            && word.renewal?.graceUntil == expected.renewal?.graceUntil
            && (word.end == nil || word.end == expected.end)
    }

    private func isSamePeriod(_ period: LedgerPeriod, _ expected: LedgerPeriod) -> Bool {
        period.id == expected.id && period.productID == expected.productID
            && period.purchasedAt == expected.purchasedAt && period.expiresAt == expected.expiresAt
            && period.isUpgraded == expected.isUpgraded
            && (period.revocation == nil) == (expected.revocation == nil)
    }

    @Test("all of 50 signed ones are accepted, and none with a changed signature")
    func signed() async throws {
        let authority = try TrustFixture.transactions.get()
        let policy = NotificationPolicy(
            trust: try TrustFixture.trust(authority), scope: FutureNotification.scope, sharedSecret: nil)
        var corpus = FutureNotifications(seed: 20_261_128)
        var understood = 0
        for number in 0..<50 {
            let (known, future) = corpus.next()
            let text = try future.text { try authority.sign(json: $0) }
            let notification = try await policy.judge(
                try ServerNotification(body: Array(#"{"signedPayload":"\#(text)"}"#.utf8)))
            let isUnderstood = notification.environment != .unknown
            understood += isUnderstood ? 1 : 0
            let holds = try isUnderstood ? isSame(notification, known) : changesNothing(notification)
            #expect(holds, "\(number): \(future)")
            // The last character also has bits outside the signature, so the one before it is changed.
            let place = text.index(text.endIndex, offsetBy: -2)
            let other = text[place] == "A" ? "B" : "A"
            let forged = text.replacingCharacters(in: place...place, with: other)
            await #expect(throws: NotGenuine.self) {
                try await policy.judge(.signed(try SignedNotification(forged)))
            }
        }
        #expect((5...45).contains(understood), "\(understood) are understood")
    }
}
