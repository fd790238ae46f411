import Postgres
import RelayCore

/// Publishers' Cleeng accounts in SQL. A copy's configuration must agree with `own_accounts`: a copy without a
/// publisher's account never does its work with another one.
extension PublisherScope {
    /// Every publisher that can have rows. Notifications received before any publisher existed belong to the first one.
    static let publishers: SQL =
        "(SELECT id FROM publishers UNION SELECT '\(unescaped: PublisherID.first.text)') AS pub"

    /// The condition that a publisher is in the scope, according to the database too.
    ///
    /// - Parameter column: the column with the publisher's id.
    func includes(_ column: SQL) -> SQL {
        let (only, others): (PublisherID?, [PublisherID]) =
            switch self {
            case .only(let publisher): (publisher, [])
            case .allBut(let others): (nil, others.sorted())
            }
        return """
            (\(.text(only)) IS NULL OR \(column) = \(.text(only))) AND \(column) <> ALL (\(.textArray(others)))
            AND \(Self.hasOwn(column)) = \(.bool(only != nil))
            """
    }

    /// The condition that this copy has the account for a publisher's work.
    ///
    /// - Parameters:
    ///   - own: publishers whose own accounts this copy has.
    ///   - column: the column with the publisher's id.
    ///   - full: accounts whose work is not selected now; nil is the shared account.
    static func hasAccount(_ own: [PublisherID], without full: Set<PublisherID?> = [], _ column: SQL) -> SQL {
        let open = own.filter { !full.contains($0) }
        return """
            CASE WHEN \(hasOwn(column)) THEN \(column) = ANY (\(.textArray(open)))
                 ELSE \(.bool(!full.contains(nil))) AND \(column) <> ALL (\(.textArray(own))) END
            """
    }

    private static func hasOwn(_ column: SQL) -> SQL { "(\(column) IN (SELECT publisher FROM own_accounts))" }
}
