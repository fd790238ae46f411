import Formats
import Logging
import NIOConcurrencyHelpers
public import RelayCore

/// Cached offers, which purchases are checked against. They are read every five seconds, so a change takes effect
/// within that time.
public final class OfferCatalogue: Sendable {
    private struct Publisher {
        var ids: Set<OfferID> = []
        var products: [OfferID: Set<ProductID>] = [:]
        var offers: [ProductID: [OfferID]] = [:]
        /// Codes in lower case.
        var coupons: [OfferID: Set<CouponID>] = [:]
    }

    /// Nil until the offers were read once.
    private let known = NIOLockedValueBox<[PublisherID: Publisher]?>(nil)
    private let reading = NIOLockedValueBox<Task<Void, any Error>?>(nil)

    init() {}

    /// The offer of a product; nil if there is none. If there are several, the first by name counts.
    ///
    /// - Parameter product: product with the store's prefix.
    public func offer(forProduct product: ProductID, of publisher: PublisherID) -> OfferID? {
        known.withLockedValue { $0?[publisher]?.offers[product]?.first }
    }

    /// Name of a product in the catalogue, with the store's prefix: its base plan's name if the catalogue has that.
    ///
    /// - Parameter plan: see ``LedgerPeriod/planID``.
    public func name(
        of product: ProductID, plan: ProductID?, at platform: StorePlatform, of publisher: PublisherID
    ) -> ProductID {
        let plan = plan.map { ProductID(platform.prefixed($0)) }
        if let plan, offer(forProduct: plan, of: publisher) != nil { return plan }
        return ProductID(platform.prefixed(product))
    }

    /// The offers of a subscription's products; unknown products are omitted. Nil until the offers were read once.
    func offers(of products: Set<ProductID>, in subscription: SubscriptionName) -> [ProductID: [OfferID]]? {
        let platform = subscription.platform
        return known.withLockedValue { known in
            guard let known else { return nil }
            guard let offers = known[subscription.publisher]?.offers else { return [:] }
            return Dictionary(
                uniqueKeysWithValues: products.compactMap { product in
                    offers[ProductID(platform.prefixed(product))].map { (product, $0) }
                })
        }
    }

    /// Whether a product may be bought under an offer, in one of its base plans at least. Nil if no product of the offer is
    /// known.
    public func allows(_ product: ProductID, under offer: OfferID, of publisher: PublisherID) -> Bool? {
        known.withLockedValue { known in
            guard let products = known?[publisher]?.products[offer] else { return nil }
            return products.contains(product) || products.contains { $0.text.hasPrefix("\(product):") }
        }
    }

    /// All offers, by id.
    public func offers(of publisher: PublisherID) -> [OfferID] {
        known.withLockedValue { $0?[publisher].map { $0.ids.sorted() } ?? [] }
    }

    /// Whether the catalogue has a product of the publisher.
    public func hasProducts(of publisher: PublisherID) -> Bool {
        known.withLockedValue { $0?[publisher]?.offers.isEmpty == false }
    }

    /// Whether a coupon belongs to an offer. Nil if the offer has no known coupons.
    public func allows(coupon: CouponID, under offer: OfferID, of publisher: PublisherID) -> Bool? {
        known.withLockedValue { $0?[publisher]?.coupons[offer]?.contains(CouponID(coupon.text.asciiLowercased())) }
    }

    fileprivate var isLoaded: Bool { known.withLockedValue { $0 != nil } }

    /// Runs `read`, or waits for a read that is under way. The read continues if the caller is cancelled.
    fileprivate func share(_ read: @escaping @Sendable () async throws -> Void) async throws {
        let task = reading.withLockedValue { running in
            if let running { return running }
            let task = Task { [reading] in
                defer { reading.withLockedValue { $0 = nil } }
                try await read()
            }
            running = task
            return task
        }
        try await task.value
    }

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

extension OfferStore {
    /// Reads the offers unless they were read before. Ledgers need them: they derive a subscription's offer from its
    /// present product.
    ///
    /// - Throws: ``PostgresError``.
    public func ready() async throws {
        guard !memory.catalogue.isLoaded else { return }
        // A shared read runs in its own task, which must not use this transaction.
        guard !database.isTransaction else { return try await load() }
        try await memory.catalogue.share { try await load() }
    }

    func load() async throws { memory.catalogue.set(try await list(in: .all, limit: nil)) }

    /// Reads the offers every five seconds, until the task is cancelled.
    public func keepReady() async {
        var isFailing = false
        while !Task.isCancelled {
            do {
                try await memory.catalogue.share { try await load() }
                isFailing = false
            } catch  where !Task.isCancelled {
                if !isFailing {
                    memory.logger.warning(
                        "the offers cannot be read: those read before stay", metadata: ["error": "\(error)"])
                }
                isFailing = true
            } catch {}
            try? await Task.sleep(for: memory.catalogue.isLoaded ? .seconds(5) : .milliseconds(250))
        }
    }
}
