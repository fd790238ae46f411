import Postgres
public import RelayCore

/// The publishers whose rows an operator may see and change. Every read and action of ops takes one; there is no default.
public enum OpsScope: Sendable {
    /// Every publisher's, and what belongs to none. The command line has it: its user has the database.
    case all
    case publisher(PublisherID)

    /// Nil for all.
    public var publisher: PublisherID? {
        switch self {
        case .all: nil
        case .publisher(let id): id
        }
    }

    public var isAll: Bool { publisher == nil }

    /// Whether something of this publisher's may be seen.
    public func contains(_ id: PublisherID) -> Bool { publisher.map { $0 == id } ?? true }

    /// The condition that a row is in the scope. An index that a statement walks or probes stays the same: the publisher is looked
    /// at in what the index finds.
    ///
    /// - Parameter column: of the publisher's id.
    func includes(_ column: SQL) -> SQL { "(\(.text(publisher)) IS NULL OR \(column) = \(.text(publisher)))" }
}

extension APIKey {
    /// As `--publisher` and lists name every publisher.
    public static let allPublishers = "all"

    /// The publisher as lists show it.
    public var scopeText: String { seesAllPublishers ? Self.allPublishers : publisher.text }

    /// What an ops key may see: its own publisher's rows, unless it was made for all of them.
    public var opsScope: OpsScope { seesAllPublishers ? .all : .publisher(publisher) }
}
