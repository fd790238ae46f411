import Postgres
public import RelayCore

/// A row of a ``WorkQueue`` that this process holds, by the row's own columns: its contents may be what cannot be read.
public struct ClaimedRow: Sendable {
    public enum Key: Sendable, Hashable {
        case id(ValidationID)
        case subscription(SubscriptionName)
    }

    let queue: WorkQueue
    public let key: Key
    public let fence: Int32
    public let record: ClaimRecord
    /// The last error, where there was one.
    let trouble: String?

    /// - Parameter row: with the columns of ``WorkQueue/columns(_:)``.
    init(_ queue: WorkQueue, _ key: Key, fence: Int32, _ row: PostgresRow) throws {
        self.queue = queue
        self.key = key
        self.fence = fence
        // This claim's own strike is none yet.
        record = ClaimRecord(
            strikes: max(try row.get("strikes", as: Int.self) - 1, 0), failures: try row.get("failures"))
        trouble = try row.get("trouble")
    }

    /// Makes a row that this process works on without a claim: no update by claim changes it.
    init(unclaimed key: Key, of queue: WorkQueue) {
        self.queue = queue
        self.key = key
        fence = 0
        record = ClaimRecord(strikes: 0, failures: 0)
        trouble = nil
    }

    public var isClaimed: Bool { fence > 0 }

    /// As the log names it.
    public var name: String {
        switch key {
        case .id(let id): "\(id)"
        case .subscription(let name): "\(name.environment)/\(name.originalTransactionID)"
        }
    }
}

/// What was claimed of a ``WorkQueue``.
public protocol ClaimedItem: Sendable {
    var row: ClaimedRow { get }
}

extension ClaimedRow.Key {
    init(_ id: ValidationID) { self = .id(id) }

    /// Those of one queue.
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
