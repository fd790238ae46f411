import Postgres
import RelayCore

extension PublisherScope {
    /// Every publisher that can have rows. Notifications that came before there was any are the first one's.
    static let publishersSQL = "(SELECT id FROM publishers UNION SELECT '\(PublisherID.first)') AS pub"

    /// The condition that a publisher is in the scope.
    ///
    /// - Parameters:
    ///   - column: of the publisher's id.
    ///   - first: the number of the first of the two ``parameters``.
    static func sql(_ column: String, from first: Int) -> String {
        "(\(column) = $\(first)::text OR ($\(first)::text IS NULL AND \(column) <> ALL ($\(first + 1)::text[])))"
    }

    var parameters: [PostgresValue] {
        switch self {
        case .only(let publisher): [.text(publisher), .textArray([])]
        case .allBut(let others): [.text(nil), .textArray(others.sorted())]
        }
    }
}
