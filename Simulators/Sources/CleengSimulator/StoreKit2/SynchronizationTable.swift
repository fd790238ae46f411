/// The synchronizations that run, one for each transaction at most, and the last ones that ran.
struct SynchronizationTable: Sendable {
    /// By id in lower case: a UUID is the same in either.
    private var table: BoundedTable<String, Synchronization>
    /// The ids of those that run, by transaction.
    private var running: [String: String] = [:]
    private var lastId = 0

    init(capacity: Int) {
        table = BoundedTable(capacity: capacity)
    }

    var runningCount: Int { running.count }

    subscript(id: String) -> Synchronization? { table[id.lowercased()] }

    /// Whether a new one has to wait: one of the same transaction, or of the same name, still runs.
    func isLocked(_ transactionId: String, id: String?) -> Bool {
        if running[transactionId] != nil { return true }
        guard let named = id.flatMap({ self[$0] }) else { return false }
        return named.outcome == nil
    }

    /// An id that no other has: counted, so that the same calls always get the same ids.
    mutating func makeId() -> String {
        var id: String
        repeat {
            lastId += 1
            let digits = String(lastId)
            id = "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
        } while table[id] != nil
        return id
    }

    mutating func add(_ synchronization: Synchronization) {
        let key = synchronization.id.lowercased()
        if table[key] != nil {
            table[key] = synchronization
        } else if let forgotten = table.insert(synchronization, for: key),
            running[forgotten.value.transactionId] == forgotten.key
        {
            running[forgotten.value.transactionId] = nil
        }
        running[synchronization.transactionId] = key
    }

    /// Notes what came of one; nothing where it has been forgotten.
    mutating func finish(_ synchronization: Synchronization, _ outcome: Synchronization.Outcome) {
        let key = synchronization.id.lowercased()
        guard table[key]?.sequence == synchronization.sequence else { return }
        table[key]?.outcome = outcome
        running[synchronization.transactionId] = nil
    }
}
