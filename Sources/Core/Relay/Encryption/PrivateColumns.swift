/// A table's private columns and primary key.
package struct PrivateColumns: Sendable {
    enum Kind: Sendable {
        /// A name, or a text that contains one: see ``VaultKeys/seal(name:)``.
        case text
        case bytes
    }

    struct Column: Sendable {
        let column: StaticString
        let kind: Kind

        var name: String { "\(column)" }
    }

    let table: String
    /// The primary key after `bucket`: names and types.
    let key: [(name: String, type: String)]
    let columns: [Column]

    /// - Parameter key: the primary key after `bucket`: names and types.
    package init(
        _ table: String, key: [(name: String, type: String)], texts: [StaticString] = [],
        bytes: [StaticString] = []
    ) {
        self.table = table
        self.key = key
        columns = texts.map { Column(column: $0, kind: .text) } + bytes.map { Column(column: $0, kind: .bytes) }
    }

    /// Key of the tables with a partition for each week.
    package static let weekly = [(name: "accepted_on", type: "date"), (name: "id", type: "uuid")]
    private static let subscription = [
        (name: "publisher", type: "text"), (name: "environment", type: "text"),
        (name: "subscription_key", type: "text"),
    ]

    /// Customers' names, receipts and messages. Features add theirs: ``StoreMemory/privateColumns``. A test compares these
    /// lists with what the service writes.
    static let common: [PrivateColumns] = [
        PrivateColumns("validations", key: weekly, texts: ["email", "customer", "application_username", "ip_address"]),
        PrivateColumns("receipts", key: weekly, bytes: ["body"]),
        PrivateColumns("pursuits", key: [("id", "uuid")], texts: ["customer"]),
        PrivateColumns("entitlement_reads", key: [("publisher", "text"), ("customer", "text")], texts: ["customer"]),
        PrivateColumns(
            "subscriptions", key: subscription,
            texts: ["customer", "email", "application_username", "previous_customer", "previous_username"]),
        PrivateColumns("transfers", key: subscription + [("to_id", "uuid")], texts: ["from_customer", "to_customer"]),
        PrivateColumns("customers", key: [("publisher", "text"), ("username", "text")], texts: ["username"]),
        PrivateColumns("consumption_requests", key: weekly, texts: ["username"]),
        PrivateColumns("consumption_facts", key: [("publisher", "text"), ("username", "text")], texts: ["username"]),
        PrivateColumns("notifications", key: weekly, bytes: ["body"]),
        PrivateColumns("webhook_queue", key: [("id", "uuid")], texts: ["lane"]),
        PrivateColumns("webhook_deliveries", key: weekly, texts: ["lane", "body"]),
        PrivateColumns("audit_log", key: [("id", "uuid")], texts: ["target", "reason"]),
    ]
}

extension StoreMemory {
    /// The private columns of all tables.
    var privateColumns: [PrivateColumns] { PrivateColumns.common + tables.flatMap(\.sealed) }
}
