import NIOCore
import NIOHTTP1
import OutboundHTTP
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct EntitlementReadingTests {
    private func parsed(_ text: String) -> EntitlementPage? {
        EntitlementPage(ByteBuffer(string: text))
    }

    private func answer(_ status: Int, _ body: String) -> EntitlementPageAnswer {
        let reply = HTTPReply(status: status, headers: [:], body: .success(ByteBuffer(string: body)))
        return EntitlementPageAnswer(reply, scrubber: MessageScrubber(hiding: []))
    }

    @Test(
        arguments: [
            ("active", true), ("cancelled", true), ("Active", true), ("terminated", false), ("paused", false),
            ("", false),
            ("active ", false), (nil, false),
        ] as [(String?, Bool)])
    func accessFollowsTheStatusAndNothingElse(status: String?, entitled: Bool) {
        for expiresAt in [nil, 1, 4_000_000_000] as [Int64?] {
            let item = EntitlementItem(offerId: "S1_US", status: status, expiresAt: expiresAt)
            #expect(OfferEntitlement(offer: "S1_US", items: [item]).isEntitled == entitled)
        }
    }

    @Test func anUnknownStatusIsKeptForTheEvidence() {
        let item = EntitlementItem(offerId: "S1_US", status: "paused\u{1b}", expiresAt: 9)
        let entitlement = OfferEntitlement(offer: "S1_US", items: [item])
        #expect(!entitlement.isEntitled)
        #expect(entitlement.status == "paused")
        #expect(entitlement.expiresAt == 9)
    }

    @Test(arguments: [
        ("S1_US", "S1_US", true), ("S1", "S1_US", true), ("S1", "S1", true), ("S1_US", "S1_DE", false),
        ("S1_US", "S1", false), ("S1", "S12_US", false), ("S1", "S12", false), ("S12", "S1_US", false),
    ])
    func anOfferWithoutACountryMatchesEveryCountry(asked: String, listed: String, entitled: Bool) {
        let item = EntitlementItem(offerId: OfferID(listed), status: "active")
        #expect(OfferEntitlement(offer: OfferID(asked), items: [item]).isEntitled == entitled)
    }

    @Test func ofSeveralItemsTheEntitlingOneThatEndsLastIsTheEvidence() {
        let items = [
            EntitlementItem(offerId: "S1_US", status: "cancelled", expiresAt: 20),
            EntitlementItem(offerId: "S1_US", status: "terminated", expiresAt: 90),
            EntitlementItem(offerId: "S1_US", status: "active", expiresAt: 10),
            EntitlementItem(offerId: "S2_US", status: "active", expiresAt: 99),
        ]
        let entitlement = OfferEntitlement(offer: "S1_US", items: items)
        #expect(entitlement.isEntitled)
        #expect(entitlement.expiresAt == 20)
        #expect(entitlement.status == "cancelled")
        let endless = EntitlementItem(offerId: "S1_US", status: "active")
        #expect(OfferEntitlement(offer: "S1_US", items: items + [endless]).expiresAt == nil)
    }

    @Test(
        arguments: [
            ("1893456000", 1_893_456_000), ("1893456000.9", 1_893_456_000), ("1893456000000", 1_893_456_000),
            (#""1893456000""#, 1_893_456_000), (#""2030-01-01T01:00:00+01:00""#, 1_893_456_000),
            (#""2029-12-31T18:30:00-0530""#, 1_893_456_000), (#""2030-01-01T00:00:00.123Z""#, 1_893_456_000),
            (#""2030-01-01 00:00:00""#, 1_893_456_000), ("null", nil), ("0", nil), ("-5", nil), ("1e300", nil),
            (#""soon""#, nil), (#""nan""#, nil), (#""2030-13-01T00:00:00Z""#, nil), (#""2030-01-01T00:00:00+1""#, nil),
            ("[]", nil), ("true", nil),
        ] as [(String, Int64?)])
    func anEndIsReadInEachOfItsForms(json: String, seconds: Int64?) throws {
        let page = try #require(parsed(#"{"items":[{"offerId":"S1_US","status":"active","expiresAt":\#(json)}]}"#))
        #expect(page.items == [EntitlementItem(offerId: "S1_US", status: "active", expiresAt: seconds)])
    }

    @Test func unknownFieldsAndBrokenItemsDoNotBreakDecoding() throws {
        let page = try #require(
            parsed(
                """
                {"items":[{"offerId":"S1_US","status":"active","new":{"a":[1]}},{"status":"active"},null,7,"x",
                {"offerId":5},{"offerId":"S2_US","status":7}],"totalItemCount":"12","more":true}
                """))
        #expect(page.items.map(\.offerId) == ["S1_US", "S2_US"])
        #expect(page.items.map(\.status) == ["active", nil])
        #expect(page.elementCount == 7)
        #expect(page.totalItemCount == 12)
        #expect(!page.isLegible)
    }

    @Test(arguments: [
        #"{"data":[{"offerId":"S1_US"}]}"#, #"{"data":{"items":[{"offerId":"S1_US"}],"totalItemCount":1}}"#,
        #"{"responseData":{"items":[{"offerId":"S1_US"}]},"errors":[]}"#,
    ])
    func theListMayBeWhereCleengsOtherListsAre(json: String) {
        #expect(parsed(json)?.items.map(\.offerId) == ["S1_US"])
    }

    @Test(arguments: ["", "{}", "[]", "null", "7", "<html>", #"{"items":null}"#, #"{"items":{}}"#, #"{"message":"x"}"#])
    func aBodyWithoutAListIsUnreadable(json: String) {
        guard case .verdict(.tryAgain(.unreadable, retryAfter: nil)) = answer(200, json) else {
            Issue.record("not sorted as unreadable")
            return
        }
    }

    @Test(arguments: [
        #"{"message":"Customer not found"}"#,
        #"{"success":false,"data":null,"message":"User a@b.test does not exist."}"#,
    ])
    func a404AboutACustomerIsAnUnknownCustomer(body: String) {
        guard case .unknownCustomer = answer(404, body) else {
            Issue.record("not sorted as an unknown customer")
            return
        }
    }

    @Test(arguments: [
        "", "Not Found", "<html>", "{}", #"{"error":"x"}"#, #"["message"]"#, #"{"message":1}"#, #"{"message":""}"#,
        #"{"message":"Not Found"}"#, #"{"message":"no Route matched with those values"}"#,
        #"{"message":"Cannot GET /3.1/entitlements?customerEmail=user%40example.test"}"#,
    ])
    func anyOther404IsAWrongURL(body: String) {
        guard case .verdict(.misconfigured(message: nil)) = answer(404, body) else {
            Issue.record("not sorted as misconfigured")
            return
        }
    }

    @Test(arguments: [400, 422, 408, 409, 413, 429, 500, 503])
    func noReadRejectsAnything(status: Int) {
        guard case .verdict(.tryAgain) = answer(status, #"{"message":"x"}"#) else {
            Issue.record("not tried again")
            return
        }
    }

    @Test(arguments: [301, 401, 403, 405])
    func aForbiddenReadIsAConfigurationError(status: Int) {
        guard case .verdict(.misconfigured(message: "x")) = answer(status, #"{"message":"x"}"#) else {
            Issue.record("not sorted as misconfigured")
            return
        }
    }
}
