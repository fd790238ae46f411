import Postgres
public import RelayCore

/// A row of a ``WorkQueue`` that this process has claimed. Holds only queue columns, because the row's contents may be
/// unreadable.
public struct ClaimedRow: Sendable {
    public enum Key: Sendable, Hashable {
        case id(ValidationID)
        case subscription(SubscriptionName)
    }

    let queue: WorkQueue
    public let key: Key
    public let fence: Int32
    public let record: ClaimRecord
    /// The last error, if any.
    let trouble: String?

    /// - Parameter row: contains ``WorkQueue/columns(_:)``.
    init(_ queue: WorkQueue, _ key: Key, fence: Int32, _ row: PostgresRow) throws {
        self.queue = queue
        self.key = key
        self.fence = fence
        // The claim itself has added a strike, which does not count yet.
        record = ClaimRecord(
            strikes: max(try row.get("strikes", as: Int.self) - 1, 0), failures: try row.get("failures"))
        trouble = try row.get("trouble")
    }

    /// Name of the row for operators.
    public var name: String { name(\.text) }

    /// Name of the row in the log.
    var loggedName: String { name(\.loggable) }

    private func name(_ subscription: (TransactionID) -> String) -> String {
        switch key {
        case .id(let id): "\(id)"
        case .subscription(let name): "\(name.environment)/\(subscription(name.originalTransactionID))"
        }
    }
}

/// An item claimed from a ``WorkQueue``.
public protocol ClaimedItem: Sendable {
    var row: ClaimedRow { get }
}

extension ClaimedRow.Key {
    init(_ id: ValidationID) { self = .id(id) }

    /// Table of keys, all from one queue.
    static func table(_ keys: [Self]) -> SQLTable {
        var ids: [ValidationID] = []
        var names: [SubscriptionName] = []
        for key in keys {
            switch key {
            case .id(let id): ids.append(id)
            case .subscription(let name): names.append(name)
            }
        }
        return names.isEmpty ? .ids(ids) : .subscriptions(names)
    }
}
