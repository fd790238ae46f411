import Foundation
import Postgres
public import RelayCore

/// All names and rows of one customer.
public struct CustomerIdentity: Sendable {
    /// The text that was searched for, and the publisher that uses it as a name.
    let text: String
    let publisher: PublisherID?
    /// Trimmed and lower-cased.
    public var customer: CustomerID
    /// The publishers' own names for the customer, which may include the email.
    public var names: [CustomerName]
    /// Names that another email uses too. They are not erased.
    public var sharedNames: [CustomerName]
    public var validations: [ValidationID]
    /// Subscriptions that the customer owns, under any of the names.
    public var subscriptions: [SubscriptionName]

    public var isEmail: Bool { CustomerEmail(customer.text) != nil }

    public var isUnknown: Bool { names.isEmpty && validations.isEmpty && subscriptions.isEmpty }
}

extension CustomerStore {
    /// Finds everything stored about a customer. Indexes used: `validations_customer`, `subscriptions_customer`,
    /// `subscriptions_username`.
    ///
    /// - Parameters:
    ///   - text: an email, or a publisher's name for the customer; both are searched.
    ///   - publisher: whose name it is; nil for any publisher's.
    /// - Throws: ``Erasure/Refusal`` if customers of several publishers have the name. An email is one person's.
    public func identity(of text: String, publisher: PublisherID? = nil) async throws -> CustomerIdentity {
        let customer = CustomerEmail(text)?.customer ?? CustomerID(text)
        var names: Set<CustomerName> = []
        var validations: [ValidationID] = []
        let bought = try await database.query(
            """
            SELECT v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id, v.publisher,
                   ROW(v.sealed_by, v.application_username) AS username
            FROM validations v
            WHERE v.customer = \(.privateText(customer))
            ORDER BY v.bucket, v.accepted_on, v.id
            """, timeout: .seconds(15))
        for row in bought {
            validations.append(try row.validationID())
            names.insert(try row.customerName())
        }
        // The text may also be a publisher's name for a customer who has no purchase with an email.
        let guesses = try await relay.publishers.ids().filter { publisher == nil || $0 == publisher }.flatMap {
            publisher in
            Set([Username(text), Username(customer.text)]).map { CustomerName(publisher: publisher, username: $0) }
        }
        names.formUnion(try await known(guesses))
        let asked = Array(names) + guesses
        let columns: SQL = """
            s.publisher, s.environment, s.subscription_key, ROW(s.sealed_by, s.application_username) AS username
            """
        var owned = Array(
            try await database.query(
                """
                SELECT \(columns), false AS is_by_name
                FROM subscriptions s
                WHERE s.customer = \(.privateText(customer))
                UNION
                SELECT \(columns), true
                FROM \(.customers(asked), as: "i")
                JOIN subscriptions s ON s.publisher = i.publisher AND s.application_username = i.username AND s.customer IS NULL
                """))
        names.formUnion(try owned.map { try $0.customerName() })
        var others: [CustomerName] = []
        if CustomerEmail(text) != nil {
            others = try await shared(names, with: customer)
            names.subtract(others)
            // A subscription claimed only by a shared name may belong to the other email.
            owned = try owned.filter { try !$0.get("is_by_name", as: Bool.self) || !others.contains($0.customerName()) }
        } else if Set(names.map(\.publisher)).count > 1 {
            throw Erasure.Refusal.severalPublishers
        }
        return CustomerIdentity(
            text: text, publisher: publisher, customer: customer,
            names: names.sorted { ($0.publisher, $0.username) < ($1.publisher, $1.username) },
            sharedNames: others, validations: validations, subscriptions: try owned.map { try $0.subscriptionName() })
    }

    /// Names among these under which another email has subscriptions. Their waiting messages are about that email.
    private func shared(_ names: Set<CustomerName>, with customer: CustomerID) async throws -> [CustomerName] {
        try await database.query(
            """
            SELECT DISTINCT s.publisher, ROW(s.sealed_by, s.application_username) AS username
            FROM \(.customers(Array(names)), as: "i")
            JOIN subscriptions s ON s.publisher = i.publisher AND s.application_username = i.username
                 AND s.customer <> \(.privateText(customer))
            """
        ).map { try $0.customerName() }
    }

    /// Names among these that exist. Index used: the primary key.
    private func known(_ all: [CustomerName]) async throws -> Set<CustomerName> {
        let rows = try await database.query(
            """
            SELECT c.publisher, ROW(c.sealed_by, c.username) AS username
            FROM \(.customers(all), as: "i")
            JOIN customers c ON c.bucket = i.bucket AND c.publisher = i.publisher AND c.username = i.username
            UNION
            SELECT f.publisher, ROW(f.sealed_by, f.username) AS username
            FROM \(.customers(all), as: "i")
            JOIN consumption_facts f ON f.bucket = i.bucket AND f.publisher = i.publisher AND f.username = i.username
            """)
        return Set(try rows.map { try $0.customerName() })
    }
}
