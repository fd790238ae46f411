import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Version 1 notifications")
struct StatusUpdateTests {
    private static let scope = StoreScope(bundleIds: ["com.example.app"], appId: nil, environments: [.sandbox])

    private func body(_ type: String, purchased: Int64, expires: Int64, more: String = "") -> [UInt8] {
        Array(
            """
            {"notification_type":"\(type)","password":"secret","environment":"Sandbox","bid":"com.example.app",
            "auto_renew_status":"true","original_transaction_id":"1","unified_receipt":{"latest_receipt_info":[
            {"transaction_id":"2","original_transaction_id":"1","product_id":"month",
            "purchase_date_ms":"\(purchased)","expires_date_ms":"\(expires)"}]\(more)}}
            """.utf8)
    }

    private func notification(_ body: [UInt8]) throws -> StoreNotification {
        guard case .statusUpdate(let update) = try ServerNotification(body: body) else {
            throw NotGenuine(.unreadable, "another version")
        }
        try update.verify(secret: "secret", Self.scope)
        return try update.read().notification
    }

    /// A purchase on 1 June that ends on 1 July. Renewal and failure have no date of their own.
    @Test(
        "a failed payment is dated at most a day before the end, and after the purchase")
    func failure() throws {
        let (june, july) = (Int64(1_780_272_000_000), Int64(1_782_864_000_000))
        let grace =
            #","pending_renewal_info":[{"original_transaction_id":"1","auto_renew_status":"1","is_in_billing_retry_period":"1","grace_period_expires_date_ms":"\#(july + 1_382_400_000)"}]"#
        let renewed = try notification(body("DID_RENEW", purchased: june, expires: july))
        let failed = try notification(body("DID_FAIL_TO_RENEW", purchased: june, expires: july, more: grace))
        #expect(renewed.saidAt == Timestamp(microseconds: june * 1_000))
        #expect(failed.saidAt == Timestamp(microseconds: (july - 86_400_000) * 1_000))
        for words in [[renewed, failed], [failed, renewed]] {
            var ledger = SubscriptionLedger()
            for word in words { ledger.apply(try #require(word.statement)) }
            let state = ledger.state(at: Timestamp(microseconds: (july + 1_000) * 1_000), leeway: .seconds(3_600))
            #expect(state?.status == .inGrace)
        }
    }

    /// The store has no end date for a pass. Version 1 identifies it by its transaction and states when it was revoked.
    @Test(
        "a non-renewing purchase is revoked only by REFUND and REVOKE",
        arguments: ["REFUND", "REVOKE", "INITIAL_BUY"])
    func pass(type: String) throws {
        let taken = type == "INITIAL_BUY" ? "" : #","cancellation_date_ms":"1780358400000""#
        let text = """
            {"notification_type":"\(type)","password":"secret","environment":"Sandbox","bid":"com.example.app",
            "unified_receipt":{"latest_receipt_info":[
            {"transaction_id":"8","original_transaction_id":"8","product_id":"month","purchase_date_ms":"1780300000000",
             "expires_date_ms":"1782900000000"},
            {"transaction_id":"7","original_transaction_id":"7","product_id":"pass","purchase_date_ms":"1780272000000"\(taken)}]}}
            """
        let said = try notification(Array(text.utf8))
        guard type != "INITIAL_BUY" else {
            #expect(said.originalTransactionID == "8" && said.statement?.periods.map(\.productID) == ["month"])
            return
        }
        #expect(said.originalTransactionID == "7")
        var ledger = SubscriptionLedger()
        // The receipt's statement.
        ledger.apply(
            LedgerStatement(periods: [
                LedgerPeriod(
                    id: "7", productID: "pass", purchasedAt: Timestamp(seconds: 1_780_272_000), expiresAt: nil,
                    statedAt: Timestamp(seconds: 1_780_272_100))
            ]))
        ledger.apply(try #require(said.statement))
        let state = ledger.state(at: Timestamp(seconds: 1_780_400_000), leeway: .seconds(3_600))
        #expect(state?.status == .revoked)
        #expect(state?.reason == (type == "REFUND" ? "refunded" : "family_revoked"))
    }

    @Test(
        "of a million transactions none is read before the secret is checked, and a thousand after")
    func bounded() throws {
        let parts = Array(repeating: "{}", count: 5_000).joined(separator: ",")
        let text =
            #"{"notification_type":"X","password":"secret","environment":"Sandbox","bid":"com.example.app","unified_receipt":{"latest_receipt_info":[\#(parts)]}}"#
        guard case .statusUpdate(let update) = try ServerNotification(body: Array(text.utf8)) else {
            Issue.record("another version")
            return
        }
        #expect(throws: NotGenuine.self) { try update.verify(secret: "another", Self.scope) }
        #expect(try update.read().transactions.count == 1_000)
    }

    @Test("a transaction that cannot be read leaves those before it")
    func odd() throws {
        let text =
            #"{"notification_type":"X","unified_receipt":{"latest_receipt_info":[{"transaction_id":"1"},7,{"transaction_id":"2"}]}}"#
        guard case .statusUpdate(let update) = try ServerNotification(body: Array(text.utf8)) else {
            Issue.record("another version")
            return
        }
        #expect(try update.read().transactions.map(\.transactionId) == ["1"])
    }
}
