import Postgres
public import RelayCore

/// The publishers whose rows an operator may see and change. Every read and action of operators requires one; there is
/// no default.
public enum OpsScope: Sendable {
    /// Rows of all publishers, and rows without a publisher. Commands have it, since their user has access to the
    /// database.
    case all
    case publisher(PublisherID)

    /// Nil for all publishers.
    public var publisher: PublisherID? {
        switch self {
        case .all: nil
        case .publisher(let id): id
        }
    }

    public var isAll: Bool { publisher == nil }

    /// Whether the operator may see the publisher's rows.
    public func contains(_ id: PublisherID) -> Bool { publisher.map { $0 == id } ?? true }

    /// Condition that a row is in the scope. It does not change a statement's index: the publisher is compared in the
    /// rows that the index finds.
    ///
    /// - Parameter column: column with the publisher's id.
    func includes(_ column: SQL) -> SQL { "(\(.text(publisher)) IS NULL OR \(column) = \(.text(publisher)))" }
}

extension APIKey {
    /// The name for all publishers in `--publisher` and in lists.
    public static let allPublishers = "all"

    /// The publisher as lists show it.
    public var scopeText: String { seesAllPublishers ? Self.allPublishers : publisher.text }

    /// The scope of an ops key: its own publisher's rows, unless the key was created for all publishers.
    public var opsScope: OpsScope { seesAllPublishers ? .all : .publisher(publisher) }
}
