import Formats
import Postgres
public import RelayCore

extension OfferStore {
    /// Lists all offers. Reads whole tables, which are small.
    ///
    /// - Parameter limit: nil for all.
    public func list(in scope: OpsScope, limit: Int32? = 50_000) async throws -> [(
        publisher: PublisherID, offer: Offer
    )] {
        try await database.query(
            """
            SELECT o.publisher, o.offer_id, o.name,
                   array(SELECT p.product_id FROM offer_products p
                         WHERE p.publisher = o.publisher AND p.offer_id = o.offer_id ORDER BY 1) AS products,
                   array(SELECT c.code FROM offer_coupons c
                         WHERE c.publisher = o.publisher AND c.offer_id = o.offer_id ORDER BY 1) AS coupons,
                   array(SELECT c.campaign FROM offer_coupons c
                         WHERE c.publisher = o.publisher AND c.offer_id = o.offer_id ORDER BY c.code) AS campaigns
            FROM offers o
            WHERE \(scope.includes("o.publisher"))
            ORDER BY o.publisher, o.offer_id
            LIMIT \(.int4(limit))
            """
        ).map { row in
            let (codes, campaigns): ([String], [String]) = (try row.get("coupons"), try row.get("campaigns"))
            let coupons = zip(codes, campaigns).map { Offer.Coupon(code: CouponID($0), campaign: $1) }
            let products = try row.get("products", as: [String].self).map { ProductID($0) }
            return (
                try row.get("publisher"),
                Offer(id: try row.get("offer_id"), name: try row.get("name"), products: products, coupons: coupons)
            )
        }
    }

    /// Adds offers, or products and coupons to existing ones.
    ///
    /// - Parameter replacing: deletes all offers of the publisher first.
    public func put(_ offers: [Offer], of publisher: PublisherID, replacing: Bool = false) async throws {
        let products = offers.flatMap { offer in offer.products.map { (product: $0, offer: offer.id) } }
        // Codes match without regard to case; the last of several spellings counts.
        let coupons = offers.flatMap { offer in
            Dictionary(offer.coupons.map { (CouponID($0.code.text.asciiLowercased()), $0) }, uniquingKeysWith: { $1 })
                .sorted { $0.key < $1.key }.map { (code: $0.key, campaign: $0.value.campaign, offer: offer.id) }
        }
        let statements =
            (replacing ? [Self.clear(nil, of: publisher)] : [])
            + Self.writes(offers, products: products, coupons: coupons, of: publisher)
        _ = try await database.withTransaction { try await $0.commit(with: statements) }
    }

    private static func writes(
        _ offers: [Offer], products: [(product: ProductID, offer: OfferID)],
        coupons: [(code: CouponID, campaign: String, offer: OfferID)], of publisher: PublisherID
    ) -> [SQL] {
        let offers: SQLTable = ["id": .textArray(offers.map(\.id)), "name": .textArray(offers.map(\.name))]
        let products: SQLTable = [
            "product": .textArray(products.map(\.product)), "offer": .textArray(products.map(\.offer)),
        ]
        let coupons: SQLTable = [
            "code": .textArray(coupons.map(\.code)), "offer": .textArray(coupons.map(\.offer)),
            "campaign": .textArray(coupons.map(\.campaign)),
        ]
        return [
            """
            INSERT INTO offers AS o (publisher, offer_id, name)
            SELECT \(.text(publisher)), i.id, i.name FROM \(offers, as: "i")
            ON CONFLICT (publisher, offer_id) DO UPDATE
            SET name = CASE WHEN excluded.name = '' THEN o.name ELSE excluded.name END, changed_at = now()
            """,
            """
            INSERT INTO offer_products (publisher, product_id, offer_id)
            SELECT \(.text(publisher)), i.product, i.offer FROM \(products, as: "i")
            ON CONFLICT DO NOTHING
            """,
            """
            INSERT INTO offer_coupons (publisher, code, offer_id, campaign)
            SELECT \(.text(publisher)), i.code, i.offer, i.campaign FROM \(coupons, as: "i")
            ON CONFLICT (publisher, code, offer_id) DO UPDATE SET campaign = excluded.campaign
            """,
        ]
    }

    /// - Parameter id: nil: all offers.
    private static func clear(_ id: OfferID?, of publisher: PublisherID) -> SQL {
        """
        DELETE FROM offers
        WHERE publisher = \(.text(publisher)) AND (\(.text(id)) IS NULL OR offer_id = \(.text(id)))
        """
    }

    /// Removes an offer or one product of it. Returns false if there is none.
    ///
    /// - Parameter product: nil: the whole offer.
    public func remove(_ id: OfferID, product: ProductID?, of publisher: PublisherID) async throws -> Bool {
        let removal: SQL =
            product.map { product in
                """
                DELETE FROM offer_products
                WHERE publisher = \(.text(publisher)) AND offer_id = \(.text(id)) AND product_id = \(.text(product))
                """
            } ?? Self.clear(id, of: publisher)
        return try await database.query(removal).affectedRows > 0
    }

    /// Mismatches between the newest purchases and the catalogue. Index used: `validations_newest`.
    public func unmapped(among newest: Int = 10_000, in scope: OpsScope) async throws -> [UnmappedOffer] {
        try await database.query(
            """
            SELECT v.publisher, v.offer_id, v.product, count(*) AS purchases,
                   EXISTS (
                       SELECT FROM offer_products p WHERE p.publisher = v.publisher AND p.offer_id = v.offer_id) AS is_mapped
            FROM (SELECT v.publisher, v.offer_id,
                         \(StorePlatform.name("v.subscription_key")) || ':' || v.product_id AS product
                  FROM validations v WHERE \(scope.includes("v.publisher"))
                  ORDER BY v.accepted_at DESC LIMIT \(.int4(Int32(newest)))) AS v
            WHERE NOT EXISTS (SELECT FROM offer_products p
                              WHERE p.publisher = v.publisher AND p.offer_id = v.offer_id
                                AND (p.product_id = v.product OR starts_with(p.product_id, v.product || ':')))
              AND (v.product IS NOT NULL
                   OR NOT EXISTS (SELECT FROM offer_products p
                                  WHERE p.publisher = v.publisher AND p.offer_id = v.offer_id))
            GROUP BY v.publisher, v.offer_id, v.product
            ORDER BY count(*) DESC, v.publisher, v.offer_id
            LIMIT 1000
            """
        ).map { row in
            UnmappedOffer(
                publisher: try row.get("publisher"), offerID: try row.get("offer_id"), product: try row.get("product"),
                purchases: try row.get("purchases"), isMapped: try row.get("is_mapped"))
        }
    }
}
