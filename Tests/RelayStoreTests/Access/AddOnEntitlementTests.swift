import Postgres
import RelayCore
import Testing

@testable import Relay

/// A store sells a base product and an add-on in one subscription. The app posts only a purchase of the base product.
/// The catalogue maps the add-on to an offer of its own.
@Suite("A customer's entitlements include the offers of add-ons that no purchase was posted for")
struct AddOnEntitlementTests {
    private static let (base, addOn): (OfferID, OfferID) = ("S123456789_US", "S2_US")

    private func entitlements(
        _ store: RelayStore, to offer: OfferID? = nil
    ) async throws -> [OfferID: Validation] {
        let ana = try #require(CustomerEmail("ana@example.test")).customer
        let found =
            if let offer {
                [
                    try await store.subscriptions.entitlement(
                        of: ana, to: offer, publisher: "main")
                ].compactMap(\.self)
            } else {
                try await store.subscriptions.entitlements(of: ana, publisher: "main")
            }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.offerID, $0) })
    }

    /// - Parameters:
    ///   - said: time of the statement; like all times, in seconds from now.
    ///   - addOn: end of the add-on; `nil` if the store no longer lists it.
    private func come(_ notices: Notices, said: Double, addOn: Double?, refunded: Bool = false) async throws {
        let (saidAt, bought) = try await (notices.at(said), notices.at(-100))
        func period(_ id: String, _ product: ProductID, _ end: Timestamp) -> LedgerPeriod {
            LedgerPeriod(
                id: TransactionID(id), productID: product, purchasedAt: bought, expiresAt: end, statedAt: saidAt)
        }
        var periods = [period("1", "com.example.monthly", try await notices.at(86_400))]
        if let addOn {
            var item = period("2", "com.example.sports", try await notices.at(addOn))
            if refunded { item.revocation = .init(at: saidAt, kind: .refunded) }
            periods.append(item)
        }
        let statement = LedgerStatement(
            periods: periods,
            renewal: LedgerRenewal(willRenew: true, productID: "com.example.monthly", statedAt: saidAt))
        let name = SubscriptionName(
            publisher: .first, environment: .production, originalTransactionID: TransactionID(notices.key))
        _ = try await notices.store.subscriptions.record([LedgerMessage(name, statement)])
    }

    private func withGranted(_ body: (RelayStore, Notices) async throws -> Void) async throws {
        try await withStore { database, store in
            let notices = Notices(store: store, database: database, from: try await database.now())
            _ = try await store.publishers.add("main")
            let offers = [(Self.base, "com.example.monthly"), (Self.addOn, "com.example.sports")]
            try await store.offers.put(
                offers.map { Offer(id: $0.0, products: [ProductID("apple:" + $0.1)]) }, of: "main")
            try await store.offers.load()
            _ = try await store.takeAndGrant(
                Acceptance.sample().saying("1", ends: notices.at(86_400), statedAt: notices.at(-50)))
            try await body(store, notices)
        }
    }

    @Test("it runs until its own end, and a refund of it alone ends it")
    func runs() async throws {
        try await withGranted { store, notices in
            #expect(try await entitlements(store).keys.sorted() == [Self.base])
            try await come(notices, said: -10, addOn: 43_200)
            for known in [try await entitlements(store), try await entitlements(store, to: Self.addOn)] {
                let item = try #require(known[Self.addOn])
                #expect(item.status == .granted && item.reason == nil)
                #expect(item.expiresAt == (try await notices.at(43_200)))
            }
            #expect(try await entitlements(store)[Self.base]?.status == .granted)
            try await come(notices, said: -9, addOn: 43_200, refunded: true)
            let refunded = try #require(try await entitlements(store, to: Self.addOn)[Self.addOn])
            #expect(refunded.status == .revoked && refunded.reason == "refunded")
            #expect(try await entitlements(store, to: Self.base)[Self.base]?.status == .granted)
        }
    }

    @Test("an add-on that the store no longer lists has ended")
    func removed() async throws {
        try await withGranted { store, notices in
            try await come(notices, said: -10, addOn: 43_200)
            try await come(notices, said: -9, addOn: nil)
            let known = try await entitlements(store)
            #expect(known[Self.addOn]?.status == .revoked && known[Self.addOn]?.reason == "expired")
            #expect(known[Self.base]?.status == .granted)
        }
    }

    @Test("no other customer and no other offer gets it")
    func others() async throws {
        try await withGranted { store, notices in
            try await come(notices, said: -10, addOn: 43_200)
            #expect(try await entitlements(store, to: "S3_US").isEmpty)
            let ben = try #require(CustomerEmail("ben@example.test")).customer
            #expect(
                try await store.subscriptions.entitlements(of: ben, publisher: "main").isEmpty)
        }
    }
}
