import Postgres
public import RelayCore

extension RelayStore {
    /// The whole of small tables.
    private static let offersSQL = """
        SELECT o.publisher, o.offer_id, o.name,
               array(SELECT p.product_id FROM offer_products p
                     WHERE p.publisher = o.publisher AND p.offer_id = o.offer_id ORDER BY 1),
               array(SELECT c.code FROM offer_coupons c
                     WHERE c.publisher = o.publisher AND c.offer_id = o.offer_id ORDER BY 1),
               array(SELECT c.campaign FROM offer_coupons c
                     WHERE c.publisher = o.publisher AND c.offer_id = o.offer_id ORDER BY c.code)
        FROM offers o
        WHERE \(OpsScope.sql("o.publisher", 1))
        ORDER BY o.publisher, o.offer_id
        LIMIT 50000
        """

    private static let putSQL = """
        INSERT INTO offers AS o (publisher, offer_id, name)
        SELECT $1, i.id, i.name FROM unnest($2::text[], $3::text[]) AS i(id, name)
        ON CONFLICT (publisher, offer_id) DO UPDATE
        SET name = CASE WHEN excluded.name = '' THEN o.name ELSE excluded.name END, changed_at = now()
        """

    private static let putProductsSQL = """
        INSERT INTO offer_products (publisher, product_id, offer_id)
        SELECT $1, i.product, i.offer FROM unnest($2::text[], $3::text[]) AS i(product, offer)
        ON CONFLICT DO NOTHING
        """

    private static let putCouponsSQL = """
        INSERT INTO offer_coupons (publisher, code, offer_id, campaign)
        SELECT $1, i.code, i.offer, i.campaign FROM unnest($2::text[], $3::text[], $4::text[]) AS i(code, offer, campaign)
        ON CONFLICT (publisher, code, offer_id) DO UPDATE SET campaign = excluded.campaign
        """

    private static let clearSQL = "DELETE FROM offers WHERE publisher = $1 AND ($2::text IS NULL OR offer_id = $2)"

    private static let removeProductSQL = """
        DELETE FROM offer_products WHERE publisher = $1 AND offer_id = $2 AND product_id = $3
        """

    /// What the newest purchases name that no offer has. Index used: `validations_newest`.
    private static let unmappedSQL = """
        SELECT v.publisher, v.offer_id, v.product, count(*),
               EXISTS (SELECT FROM offer_products p WHERE p.publisher = v.publisher AND p.offer_id = v.offer_id)
        FROM (SELECT v.publisher, v.offer_id, CASE WHEN v.subscription_key ~ '^(google|amazon):' THEN split_part(v.subscription_key, ':', 1)
                         ELSE 'apple' END || ':' || v.product_id AS product
              FROM validations v WHERE \(OpsScope.sql("v.publisher", 2))
              ORDER BY v.accepted_at DESC LIMIT $1) AS v
        WHERE NOT EXISTS (SELECT FROM offer_products p
                          WHERE p.publisher = v.publisher AND p.offer_id = v.offer_id AND p.product_id = v.product)
          AND (v.product IS NOT NULL
               OR NOT EXISTS (SELECT FROM offer_products p
                              WHERE p.publisher = v.publisher AND p.offer_id = v.offer_id))
        GROUP BY v.publisher, v.offer_id, v.product
        ORDER BY count(*) DESC, v.publisher, v.offer_id
        LIMIT 1000
        """

    public func offers(in scope: OpsScope) async throws -> [(publisher: PublisherID, offer: Offer)] {
        try await pool.query(PostgresQuery(Self.offersSQL, [scope.parameter])).map { row in
            let campaigns: [String] = try row.get(5)
            let coupons = zip(try row.get(4, as: [String].self), campaigns).map {
                Offer.Coupon(code: CouponID($0), campaign: $1)
            }
            return (
                try row.get(0),
                Offer(
                    id: try row.get(1), name: try row.get(2),
                    products: try row.get(3, as: [String].self).map { ProductID($0) },
                    coupons: coupons)
            )
        }
    }

    /// Adds to what is known of these offers.
    ///
    /// - Parameter replacing: what is known of all of the publisher's goes first.
    public func put(_ offers: [Offer], of publisher: PublisherID, replacing: Bool = false) async throws {
        let products = offers.flatMap { offer in offer.products.map { (product: $0, offer: offer.id) } }
        // Codes are compared without regard to case: of two spellings the last one counts.
        let coupons = offers.flatMap { offer in
            Dictionary(offer.coupons.map { (CouponID($0.code.text.asciiLowercased()), $0) }, uniquingKeysWith: { $1 })
                .sorted { $0.key < $1.key }.map { (code: $0.key, campaign: $0.value.campaign, offer: offer.id) }
        }
        try await pool.withTransaction { transaction in
            if replacing {
                _ = try await transaction.query(PostgresQuery(Self.clearSQL, [.text(publisher), .text(nil)]))
            }
            _ = try await transaction.query(
                PostgresQuery(
                    Self.putSQL, [.text(publisher), .textArray(offers.map(\.id)), .textArray(offers.map(\.name))]))
            _ = try await transaction.query(
                PostgresQuery(
                    Self.putProductsSQL,
                    [.text(publisher), .textArray(products.map(\.product)), .textArray(products.map(\.offer))]))
            _ = try await transaction.query(
                PostgresQuery(
                    Self.putCouponsSQL,
                    [
                        .text(publisher), .textArray(coupons.map(\.code)), .textArray(coupons.map(\.offer)),
                        .textArray(coupons.map(\.campaign)),
                    ]))
        }
    }

    /// False where it is not known.
    ///
    /// - Parameter product: nil: the whole offer.
    public func removeOffer(_ id: OfferID, product: ProductID?, of publisher: PublisherID) async throws -> Bool {
        let query =
            product.map { PostgresQuery(Self.removeProductSQL, [.text(publisher), .text(id), .text($0)]) }
            ?? PostgresQuery(Self.clearSQL, [.text(publisher), .text(id)])
        return try await pool.query(query).affectedRows > 0
    }

    /// Offers that miss a mapping, of the newest purchases.
    public func unmappedOffers(among newest: Int = 10_000, in scope: OpsScope) async throws -> [UnmappedOffer] {
        try await pool.query(PostgresQuery(Self.unmappedSQL, [.int4(Int32(newest)), scope.parameter])).map { row in
            UnmappedOffer(
                publisher: try row.get(0), offerID: try row.get(1), product: try row.get(2), purchases: try row.get(3),
                isMapped: try row.get(4))
        }
    }
}
