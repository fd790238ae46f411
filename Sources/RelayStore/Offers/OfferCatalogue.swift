import NIOConcurrencyHelpers
public import RelayCore

/// The offers in memory: a purchase is held against them without asking the database. Read anew every five seconds, so that is how
/// long a change takes to count.
public final class OfferCatalogue: Sendable {
    private struct Publisher {
        var ids: Set<OfferID> = []
        var products: [OfferID: Set<ProductID>] = [:]
        var offers: [ProductID: [OfferID]] = [:]
        /// In lower case.
        var coupons: [OfferID: Set<CouponID>] = [:]
    }

    /// Nil until they have been read at all.
    private let known = NIOLockedValueBox<[PublisherID: Publisher]?>(nil)

    init() {}

    /// The offer that a product is sold as. Nil where there is none; of several the first by name.
    ///
    /// - Parameter product: with the store before it.
    public func offer(forProduct product: ProductID, of publisher: PublisherID) -> OfferID? {
        known.withLockedValue { $0?[publisher]?.offers[product]?.first }
    }

    /// As what the products of a subscription are sold; those that are not known are left out. Nil until the offers have been read.
    func offers(of products: Set<ProductID>, in subscription: SubscriptionName) -> [ProductID: [OfferID]]? {
        let platform = StorePlatform(subscriptionKey: subscription.originalTransactionID)
        return known.withLockedValue { known in
            guard let known else { return nil }
            guard let offers = known[subscription.publisher]?.offers else { return [:] }
            return Dictionary(
                uniqueKeysWithValues: products.compactMap { product in
                    offers[ProductID(platform.prefixed(product))].map { (product, $0) }
                })
        }
    }

    /// Whether a product may be bought under an offer. Nil where no product of the offer is known.
    public func allows(_ product: ProductID, under offer: OfferID, of publisher: PublisherID) -> Bool? {
        known.withLockedValue { $0?[publisher]?.products[offer]?.contains(product) }
    }

    /// All that are sold, by name.
    public func offers(of publisher: PublisherID) -> [OfferID] {
        known.withLockedValue { $0?[publisher].map { $0.ids.sorted() } ?? [] }
    }

    /// Whether any product of the publisher's is known.
    public func hasProducts(of publisher: PublisherID) -> Bool {
        known.withLockedValue { $0?[publisher]?.offers.isEmpty == false }
    }

    /// Whether a coupon is one of an offer's. Nil where none of the offer's is known.
    public func allows(coupon: CouponID, under offer: OfferID, of publisher: PublisherID) -> Bool? {
        known.withLockedValue { $0?[publisher]?.coupons[offer]?.contains(CouponID(coupon.text.asciiLowercased())) }
    }

    fileprivate var isLoaded: Bool { known.withLockedValue { $0 != nil } }

    fileprivate func set(_ all: [(publisher: PublisherID, offer: Offer)]) {
        var publishers: [PublisherID: Publisher] = [:]
        for (publisher, offer) in all {
            publishers[publisher, default: Publisher()].ids.insert(offer.id)
            if !offer.products.isEmpty {
                publishers[publisher, default: Publisher()].products[offer.id] = Set(offer.products)
            }
            for product in offer.products {
                publishers[publisher, default: Publisher()].offers[product, default: []].append(offer.id)
            }
            if !offer.coupons.isEmpty {
                publishers[publisher, default: Publisher()].coupons[offer.id] = Set(offer.coupons.map(\.code))
            }
        }
        known.withLockedValue { [publishers] in $0 = publishers }
    }
}

extension RelayStore {
    /// Returns once the offers have been read at all.
    public func readyCatalogue() async throws {
        if !catalogue.isLoaded { try await loadCatalogue() }
    }

    func loadCatalogue() async throws { catalogue.set(try await offers(in: .all)) }

    /// Reads the offers every five seconds, until the task is cancelled.
    public func keepCatalogue() async {
        while !Task.isCancelled {
            try? await loadCatalogue()
            try? await Task.sleep(for: .seconds(5))
        }
    }
}
