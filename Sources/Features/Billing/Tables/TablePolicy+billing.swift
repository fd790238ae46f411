import Postgres
import Relay
import RelayCore

extension TablePolicy {
    /// Details of billing customers, and abandoned rows: orders that were never committed, and checked subscriptions that
    /// never had a contract. Contracts, with their orders and subscriptions, are kept forever.
    static let billing = TablePolicy(
        sealed: [PrivateColumns("billing_customers", key: [("id", "text")], texts: ["details"])],
        mentions: [.billingCustomers],
        // Orders go first: the age of a subscription is that of its newest order.
        leftovers: [.orders, .externalSubscriptions])
}

extension MentioningRows {
    /// Details of billing customers. Erasure empties them. Contracts stay, under the ids that the publisher knows.
    static let billingCustomers = MentioningRows(
        member: "billingCustomers", title: "billing customers' details", nameMember: "id", textMember: "details",
        isJSON: true
    ) { last in
        let (bucket, id) = (try last?.get("bucket") ?? -1 as Int16, try last?.get("id") ?? "")
        return """
            SELECT c.bucket, c.id, c.created_at AS at, c.publisher, ROW(c.sealed_by, c.details) AS details
            FROM billing_customers c
            WHERE (c.bucket, c.id) > (\(.int2(bucket)), \(.text(id)))
            ORDER BY c.bucket, c.id
            LIMIT \(.int4(pageSize))
            """
    } name: {
        try $0.billingID("id").description
    } text: {
        Array(try $0.open("details", as: Private<String>.self).value.utf8)
    } erasure: { found in
        """
        UPDATE billing_customers c SET details = \(.privateText("{}")), sealed_by = \(.keyOfTexts)
        FROM \(.externalSubscriptions(try found.map { try $0.billingID("id") }), as: "i")
        WHERE c.bucket = i.bucket AND c.id = i.id
        """
    }
}

extension Leftovers {
    /// Index used: `orders_open`.
    static let orders = Leftovers(
        table: "orders", what: "without a contract", where: "state = \(OrderState.inProgress)", age: "created_at",
        removal: """
            , removed AS (
                DELETE FROM orders o USING page WHERE o.bucket = page.bucket AND o.id = page.id
            )
            SELECT count(*) AS met, count(*) AS removed FROM page
            """)

    /// Index used: `external_subscriptions_unused`.
    static let externalSubscriptions = Leftovers(
        table: "external_subscriptions", what: "without a contract", where: "NOT has_contract", age: "checked_at",
        removal: """
            , judged AS MATERIALIZED (
                SELECT page.bucket, page.id, c.contract IS NOT NULL AS has_contract
                FROM page
                LEFT JOIN contract_subscriptions c ON c.bucket = page.bucket AND c.external_subscription = page.id
            ), kept AS (
                UPDATE external_subscriptions e SET has_contract = true
                FROM judged j
                WHERE e.bucket = j.bucket AND e.id = j.id AND j.has_contract
            ), removed AS (
                DELETE FROM external_subscriptions e
                USING judged j
                WHERE e.bucket = j.bucket AND e.id = j.id AND NOT j.has_contract
            )
            SELECT count(*) AS met, count(*) FILTER (WHERE NOT has_contract) AS removed FROM judged
            """)
}
