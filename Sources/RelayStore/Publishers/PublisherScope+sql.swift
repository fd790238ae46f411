import Postgres
import RelayCore

/// Whose account a publisher's work belongs to is written in `own_accounts`, and what a copy was configured with has to agree with
/// it: a copy that lacks an account never takes its work up for another one.
extension PublisherScope {
    /// Every publisher that can have rows. Notifications that came before there was any are the first one's.
    static let publishersSQL = "(SELECT id FROM publishers UNION SELECT '\(PublisherID.first)') AS pub"

    /// The condition that a publisher is in the scope, and that the database says so too.
    ///
    /// - Parameters:
    ///   - column: of the publisher's id.
    ///   - first: the number of the first of the two ``parameters``.
    static func sql(_ column: String, from first: Int) -> String {
        """
        CASE WHEN $\(first)::text IS NOT NULL THEN \(column) = $\(first) AND \(hasOwnSQL(column))
             ELSE \(column) <> ALL ($\(first + 1)::text[]) AND NOT \(hasOwnSQL(column)) END
        """
    }

    /// The condition that this copy has the account that a publisher's work belongs to.
    ///
    /// - Parameters:
    ///   - column: of the publisher's id.
    ///   - number: of the parameter that names those whose own accounts it has.
    static func hasAccountSQL(_ column: String, _ number: Int) -> String {
        "(\(column) = ANY ($\(number)::text[])) = \(hasOwnSQL(column))"
    }

    private static func hasOwnSQL(_ column: String) -> String { "(\(column) IN (SELECT publisher FROM own_accounts))" }

    var parameters: [PostgresValue] {
        switch self {
        case .only(let publisher): [.text(publisher), .textArray([])]
        case .allBut(let others): [.text(nil), .textArray(others.sorted())]
        }
    }
}
