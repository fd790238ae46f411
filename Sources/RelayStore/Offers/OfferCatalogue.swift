import NIOConcurrencyHelpers
public import RelayCore

/// The offers in memory: a purchase is held against them without asking the database. Read anew every five seconds, so that is how
/// long a change takes to count.
public final class OfferCatalogue: Sendable {
    private struct Publisher {
        var products: [OfferID: Set<ProductID>] = [:]
        var offers: [ProductID: [OfferID]] = [:]
        /// In lower case.
        var coupons: [OfferID: Set<CouponID>] = [:]
    }

    private let store: RelayStore
    private let known = NIOLockedValueBox<[PublisherID: Publisher]>([:])
    private let isLoaded = NIOLockedValueBox(false)

    public init(store: RelayStore) {
        self.store = store
    }

    /// The offer that a product is sold as. Nil where there is none; of several the first by name.
    ///
    /// - Parameter product: with the store before it.
    public func offer(forProduct product: ProductID, of publisher: PublisherID) -> OfferID? {
        known.withLockedValue { $0[publisher]?.offers[product]?.first }
    }

    /// Whether a product may be bought under an offer. Nil where no product of the offer is known.
    public func allows(_ product: ProductID, under offer: OfferID, of publisher: PublisherID) -> Bool? {
        known.withLockedValue { $0[publisher]?.products[offer]?.contains(product) }
    }

    /// Whether a coupon is one of an offer's. Nil where none of the offer's is known.
    public func allows(coupon: CouponID, under offer: OfferID, of publisher: PublisherID) -> Bool? {
        known.withLockedValue { $0[publisher]?.coupons[offer]?.contains(CouponID(coupon.text.asciiLowercased())) }
    }

    /// Returns once they have been read at all.
    public func ready() async throws {
        if !isLoaded.withLockedValue({ $0 }) { try await load() }
    }

    func load() async throws {
        var publishers: [PublisherID: Publisher] = [:]
        for (publisher, offer) in try await store.offers(in: .all) {
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
        isLoaded.withLockedValue { $0 = true }
    }

    /// Until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            try? await load()
            try? await Task.sleep(for: .seconds(5))
        }
    }
}
