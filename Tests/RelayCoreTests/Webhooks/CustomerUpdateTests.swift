import Testing

@testable import RelayCore

@Suite("A customer's update")
struct CustomerUpdateTests {
    private static let name = CustomerName(publisher: "main", username: "ana")

    private static func purchase(_ id: TransactionID, _ product: ProductID, isSandbox: Bool = false) -> CustomerPurchase
    {
        CustomerPurchase(
            platform: .apple, productID: product, purchaseID: id, transactionID: id, isSandbox: isSandbox,
            isExpired: false)
    }

    private static func purchases(_ all: [CustomerPurchase]) -> CustomerPurchases {
        CustomerPurchases(name: name, purchases: all, readAt: Timestamp(seconds: 9), changesAt: nil)
    }

    private static func update(_ environment: StoreEnvironment?, version: Int64 = 1) -> CustomerUpdate {
        CustomerUpdate(
            name: name, version: version, reason: "RENEWED", changedAt: Timestamp(seconds: 9), environment: environment,
            subscriptionKey: "1")
    }

    /// Environment of the change, whether its purchase is a test, what the endpoint asks for, and whether it receives it.
    @Test(
        "is sent to the endpoints of its environment, and to those of both if it was recognized as a test later",
        arguments: [
            ("Production", false, .all, true), ("Production", false, .production, true),
            ("Production", false, .sandbox, false), ("Production", true, .production, true),
            ("Production", true, .sandbox, true), ("Sandbox", true, .all, true), ("Sandbox", true, .production, false),
            ("Sandbox", true, .sandbox, true), ("unknown", false, .production, true),
            ("unknown", true, .sandbox, true), (nil, false, .production, true), (nil, false, .sandbox, true),
        ] as [(StoreEnvironment?, Bool, WebhookEnvironment, Bool)])
    func environments(
        environment: StoreEnvironment?, isTest: Bool, asked: WebhookEnvironment, receives: Bool
    ) {
        let update = Self.update(environment)
        let purchases = Self.purchases([
            Self.purchase("1", "a", isSandbox: isTest), Self.purchase("2", "b", isSandbox: !isTest),
        ])
        let body = update.body(to: "main", in: asked, purchases, id: "x")
        #expect((body != nil) == receives)
        #expect(update.body(to: "other", in: asked, purchases, id: "x") == nil)
        guard let body else { return }
        let shown = [isTest, !isTest].map { asked == .all || $0 == (asked == .sandbox) }
        #expect(body.contains(#""apple:a":{"#) == shown[0] && body.contains(#""apple:b":{"#) == shown[1])
    }

    @Test("names the newest purchase of its subscription")
    func body() throws {
        var (older, newer) = (Self.purchase("1", "a"), Self.purchase("1", "b"))
        (older.renewedAt, newer.renewedAt) = (Timestamp(seconds: 1), Timestamp(seconds: 2))
        newer.transactionID = "5"
        let purchases = Self.purchases([newer, older, Self.purchase("2", "c")])
        let body = try #require(Self.update(nil).body(to: "main", in: .all, purchases, id: "x"))
        #expect(
            body.hasPrefix(
                #"{"type":"purchases.updated","applicationUsername":"ana","notification":{"reason":"RENEWED","id":"x","#
                    + #""date":"1970-01-01T00:00:09.000Z","productId":"apple:b","purchaseId":"apple:1","#
                    + #""transactionId":"apple:5"},"purchases":{"apple:a":{"#))
        let without = try #require(Self.update(nil).body(to: "main", in: .all, Self.purchases([]), id: "x"))
        #expect(without.contains(#""purchaseId":"apple:1"}"#))
    }

    @Test("is repeated only for a known customer")
    func repeated() {
        #expect(!Self.update(nil).isOfKnownCustomer(Self.purchases([])))
        #expect(Self.update(nil, version: 2).isOfKnownCustomer(Self.purchases([])))
        #expect(Self.update(nil).isOfKnownCustomer(Self.purchases([Self.purchase("1", "a")])))
    }
}
