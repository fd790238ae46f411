import Foundation
import Postgres
public import RelayCore

/// All that one customer is known by.
public struct CustomerIdentity: Sendable {
    /// Trimmed and lower-cased.
    public var customer: CustomerID
    /// The publishers' own names for them, of which the email may be one.
    public var names: [CustomerName]
    public var validations: [ValidationID]
    /// Subscriptions of which they are the owner, by whichever name.
    public var subscriptions: [SubscriptionName]

    public var isUnknown: Bool { names.isEmpty && validations.isEmpty && subscriptions.isEmpty }
}

extension RelayStore {
    /// Index used: `validations_customer`.
    private static let boughtSQL = """
        SELECT v.bucket, v.accepted_on - DATE 'epoch', v.id, v.publisher, ROW(v.sealed_by, v.application_username)
        FROM validations v
        WHERE v.customer = $1
        ORDER BY v.bucket, v.accepted_on, v.id
        """

    /// Indexes used: `subscriptions_customer`, `subscriptions_username`.
    private static let ownedSQL = """
        SELECT s.publisher, s.environment, s.subscription_key, ROW(s.sealed_by, s.application_username)
        FROM subscriptions s
        WHERE s.customer = $1
        UNION
        SELECT s.publisher, s.environment, s.subscription_key, ROW(s.sealed_by, s.application_username)
        FROM unnest($2::text[], $3::text[]) AS i(publisher, username)
        JOIN subscriptions s ON s.publisher = i.publisher AND s.application_username = i.username AND s.customer IS NULL
        """

    /// - Parameter text: an email, or a name that a publisher gave; both are looked for.
    public func identity(of text: String) async throws -> CustomerIdentity {
        let customer = CustomerEmail(text)?.customer ?? CustomerID(text)
        var names: Set<CustomerName> = []
        var validations: [ValidationID] = []
        for row in try await pool.query(PostgresQuery(Self.boughtSQL, [.privateText(customer)]), timeout: .seconds(15))
        {
            validations.append(try row.validationID(bucket: 0, day: 1, id: 2))
            names.insert(CustomerName(publisher: try row.get(3), username: try row.open(4)))
        }
        // The same text may be a name that a publisher knows, without any purchase by email.
        let guesses = try await publishers().flatMap { publisher in
            Set([Username(text), Username(customer.text)]).map { CustomerName(publisher: publisher, username: $0) }
        }
        names.formUnion(try await known(guesses))
        let asked = Array(names) + guesses
        var subscriptions: [SubscriptionName] = []
        for row in try await pool.query(
            PostgresQuery(
                Self.ownedSQL,
                [
                    .privateText(customer), .textArray(asked.map(\.publisher)),
                    .privateTextArray(asked.map(\.username)),
                ]))
        {
            let publisher = try row.get(0, as: PublisherID.self)
            subscriptions.append(
                SubscriptionName(
                    publisher: publisher, environment: try row.get(1), originalTransactionID: try row.get(2)))
            names.insert(CustomerName(publisher: publisher, username: try row.open(3)))
        }
        return CustomerIdentity(
            customer: customer, names: names.sorted { ($0.publisher, $0.username) < ($1.publisher, $1.username) },
            validations: validations, subscriptions: subscriptions)
    }

    /// Index used: the primary key.
    private static let knownSQL = """
        SELECT c.publisher, ROW(c.sealed_by, c.username)
        FROM unnest($1::int2[], $2::text[], $3::text[]) AS i(bucket, publisher, username)
        JOIN customers c ON c.bucket = i.bucket AND c.publisher = i.publisher AND c.username = i.username
        """

    private func known(_ all: [CustomerName]) async throws -> Set<CustomerName> {
        let rows = try await pool.query(
            PostgresQuery(
                Self.knownSQL,
                [
                    .int2Array(all.map { Int16($0.bucket.number) }), .textArray(all.map(\.publisher)),
                    .privateTextArray(all.map(\.username)),
                ]))
        return Set(try rows.map { CustomerName(publisher: try $0.get(0), username: try $0.open(1)) })
    }
}
