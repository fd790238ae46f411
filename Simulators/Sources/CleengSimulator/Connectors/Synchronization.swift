/// A running or finished check of a purchase by a connector.
struct Synchronization: Sendable {
    enum Kind: Sendable, Equatable {
        /// The purchase is registered.
        case registration
        /// The purchase moves to another customer.
        case transfer
    }

    struct Outcome: Sendable, Equatable {
        let result: SynchronizationResult
        let accessGranted: Bool
        let offerId: OfferId
        let originalTransactionId: String
    }

    let id: String
    /// Position among synchronizations and grants, in the order of arrival.
    let sequence: Int
    let kind: Kind
    let connector: Connector
    /// For Google, the purchase token.
    let transactionId: String
    /// Google only.
    let packageName: String?
    /// The customer to whom the purchase shall belong.
    let email: EmailAddress
    let customerId: Int
    /// The customer's behaviour at the time of the call.
    let behaviour: Behaviour
    /// nil while it runs.
    var outcome: Outcome?
}

extension Synchronization {
    /// Its state in a read.
    var state: [String: AnyJSON] {
        guard let outcome else {
            return ["status": .string(behaviour.of(connector).retries ? "retrying" : "processing")]
        }
        return [
            "status": .string("finalized"), "result": .string(outcome.result.rawValue),
            "accessGranted": .bool(outcome.accessGranted), "offerId": .string(outcome.offerId.text),
        ]
    }

    /// The result of the check.
    /// - Parameter owner: the last owner of the transaction's subscription.
    func result(
        of transaction: StoreTransaction, owner: Subscription.Owner?, at moment: SimulatedTime
    ) -> (SynchronizationResult, accessGranted: Bool) {
        switch behaviour.of(connector).finding {
        case .unknown: return (connector.notFound, false)
        case .expired: return (.expired, false)
        case nil: break
        }
        // A subscription's status, not the end of one transaction, decides whether it runs: it may have been renewed
        // since.
        if let owner, owner.status.entitles {
            switch (kind, owner.email == email) {
            case (.transfer, false): return (.transferred, true)
            case (.registration, false): return (.unchanged, false)
            case (.transfer, true): return (.unchanged, true)
            // A purchase of another offer is an upgrade.
            case (.registration, true): if owner.offerId == transaction.offerId { return (.unchanged, true) }
            }
        }
        if transaction.isOver(at: moment) || behaviour.status == .terminated { return (.expired, false) }
        switch kind {
        case .registration: return (.registered, true)
        case .transfer: return (owner == nil ? connector.notFound : .expired, false)
        }
    }
}

/// Result of a purchase's check, in Cleeng's terms.
enum SynchronizationResult: String, Sendable {
    /// A subscription was created. Cleeng has not published its own term.
    case registered = "PURCHASE_REGISTERED"
    case transferred = "PURCHASE_OWNERSHIP_TRANSFERRED"
    /// The owner stays the same.
    case unchanged = "PURCHASE_OWNERSHIP_UNCHANGED"
    case expired = "RECEIVED_EXPIRED_PURCHASE"
    case transactionNotFound = "TRANSACTION_ID_NOT_FOUND"
    /// The simulator's own term.
    case tokenNotFound = "PURCHASE_TOKEN_NOT_FOUND"
}

/// The store's answer about a purchase if Cleeng asked for it.
struct StoreTransaction: Sendable, Equatable {
    /// Id of its subscription.
    let originalTransactionId: String
    let offerId: OfferId
    /// nil: unknown, and not in the past.
    let expiresAt: SimulatedTime?

    func isOver(at moment: SimulatedTime) -> Bool { expiresAt.map { $0 <= moment } ?? false }
}

/// A synchronization that is not finalized yet.
struct PendingSynchronization: AgendaEntry {
    let dueAt: SimulatedTime
    let synchronization: Synchronization

    static func < (left: PendingSynchronization, right: PendingSynchronization) -> Bool {
        (left.dueAt, left.synchronization.sequence) < (right.dueAt, right.synchronization.sequence)
    }

    static func == (left: PendingSynchronization, right: PendingSynchronization) -> Bool {
        left.synchronization.sequence == right.synchronization.sequence
    }
}

/// Running synchronizations, at most one for each transaction, and recently finished ones.
struct SynchronizationTable: Sendable {
    /// Synchronizations by id in lower case, because the case of a UUID does not matter.
    private var table: BoundedTable<String, Synchronization>
    /// Ids of running synchronizations, by transaction.
    private var running: [String: String] = [:]
    /// Ids of the latest synchronizations, by purchase token: Google's are created once.
    private var registered: [String: String] = [:]
    private var lastId = 0

    init(capacity: Int) {
        table = BoundedTable(capacity: capacity)
    }

    var runningCount: Int { running.count }

    subscript(id: String) -> Synchronization? { table[id.lowercased()] }

    /// The synchronization that a request repeats: it is running, or has registered the same purchase token.
    func existing(_ request: SynchronizationRequest) -> Synchronization? {
        let id = running[request.transactionId]
        guard request.connector == .google else { return nil }
        return (id ?? (request.kind == .registration ? registered[request.transactionId] : nil)).flatMap { table[$0] }
    }

    /// Whether a new one must wait, because one of the same transaction, or with the same id, is running.
    func isLocked(_ transactionId: String, id: String?) -> Bool {
        if running[transactionId] != nil { return true }
        guard let named = id.flatMap({ self[$0] }) else { return false }
        return named.outcome == nil
    }

    /// Creates a unique id. It is counted, so that the same calls always get the same ids.
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
        if let former = table[key] {
            forget(former, key)
            table[key] = synchronization
        } else if let forgotten = table.insert(synchronization, for: key) {
            forget(forgotten.value, forgotten.key)
        }
        running[synchronization.transactionId] = key
        if synchronization.connector == .google, synchronization.kind == .registration {
            registered[synchronization.transactionId] = key
        }
    }

    private mutating func forget(_ synchronization: Synchronization, _ key: String) {
        let purchase = synchronization.transactionId
        if running[purchase] == key { running[purchase] = nil }
        if registered[purchase] == key { registered[purchase] = nil }
    }

    /// Records a result; does nothing if the synchronization was dropped.
    mutating func finish(_ synchronization: Synchronization, _ outcome: Synchronization.Outcome) {
        let key = synchronization.id.lowercased()
        guard table[key]?.sequence == synchronization.sequence else { return }
        table[key]?.outcome = outcome
        running[synchronization.transactionId] = nil
    }
}
