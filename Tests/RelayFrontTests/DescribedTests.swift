import Formats
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import HTTPServer
@testable import Relay
@testable import RelayCore

@Suite("Messages match openapi.yaml")
struct DescribedTests {
    private let description = Result { try OpenAPI() }
    private let now = Timestamp(microseconds: 1_790_000_000_000_000)

    private func names(_ json: String) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return Set(try #require(object as? [String: Any]).keys)
    }

    private func update(isWhole: Bool) throws -> String {
        var purchase = CustomerPurchase(
            platform: .apple, productID: "month", purchaseID: "1", transactionID: "2", isSandbox: false,
            isExpired: false)
        if isWhole {
            purchase.purchasedAt = now
            purchase.renewedAt = now
            purchase.expiresAt = now
            purchase.renewalIntent = .lapse
            purchase.renewalIntentChangedAt = now
            purchase.cancelationReason = .customer
            purchase.isBillingRetry = false
            purchase.isTrial = true
            purchase.isIntro = false
            purchase.discountID = "spring"
            purchase.priceConsent = .agreed
        }
        let name = CustomerName(publisher: "main", username: "ana")
        var change = CustomerUpdate(name: name, version: 1, reason: "PURCHASED", changedAt: now)
        if isWhole { change.subscriptionKey = "1" }
        var generator = SystemRandomNumberGenerator()
        let endpoint = WebhookEndpoint(
            id: EndpointID(using: &generator), publisher: "main", kind: .purchases, url: "https://example.test",
            environment: .all, isFromSettings: false, createdAt: now, lastSuccessAt: nil, failingSince: nil,
            disabledAt: nil, disabledReason: nil)
        let purchases = CustomerPurchases(name: name, purchases: [purchase], readAt: now, changesAt: nil)
        let body = try #require(change.message(to: endpoint, purchases, at: change.changedAt)).body
        return String(decoding: WebhookBody.whole(body, password: isWhole ? "pw" : nil), as: UTF8.self)
    }

    /// A message about a store's notification, with all members or without the optional ones.
    private func notice(isWhole: Bool) -> String {
        let notification = StoreNotification(
            version: .two, identity: "2:1", uuid: "1", type: "RESCIND_CONSENT", subtype: isWhole ? "X" : nil,
            environment: .production, bundleID: isWhole ? "com.example.tv" : nil, saidAt: isWhole ? now : nil)
        let notice = notification.notice(isWhole ? "appData" : "pendingRefundReview", json: "{}".utf8)
        return #"\#(WebhookBody.noticeHead)"notification":\#(notice)}"#
    }

    @Test("messages to endpoints")
    func messages() throws {
        let description = try self.description.get()
        #expect(description.webhooks == ["billingEvent", "purchasesUpdated", "storeNotification", "test"])
        let update = try description.webhook("purchasesUpdated")
        let (whole, bare) = (try self.update(isWhole: true), try self.update(isWhole: false))
        for body in [whole, bare] { #expect(try description.problems(of: body, as: update) == []) }
        let (sent, always) = (try names(whole), try names(bare))
        #expect(description.fields(of: update).all == sent && description.fields(of: update).required == always)
        let notice = try description.webhook("storeNotification")
        for (body, isWhole) in [(self.notice(isWhole: true), true), (self.notice(isWhole: false), false)] {
            let sent = String(decoding: WebhookBody.whole(body, password: isWhole ? "pw" : nil), as: UTF8.self)
            #expect(try description.problems(of: sent, as: notice) == [])
        }
        let test = try description.webhook("test")
        for password in [nil, "pw"] {
            let body = String(decoding: WebhookBody.test(password: password), as: UTF8.self)
            #expect(try description.problems(of: body, as: test) == [])
        }
    }

    @Test("warnings about each field that has one")
    func warnings() throws {
        let description = try self.description.get()
        let warnings = [
            FieldError("couponCode", .ignored, "x"), FieldError("couponCode", .unknown, "x"), .productMismatch("x"),
        ]
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.array("warnings", warnings)
        writer.endObject()
        let text = writer.text
        let list = text.dropFirst(#"{"warnings":"#.utf8.count).dropLast()
        #expect(try description.problems(of: String(list), as: "Warnings") == [])
    }
}
