/// A purchase of a connector that is looked at, or was.
struct Synchronization: Sendable {
    enum Kind: Sendable, Equatable {
        /// The purchase is made known.
        case registration
        /// It is to go to another customer.
        case transfer
    }

    struct Outcome: Sendable, Equatable {
        let result: SynchronizationResult
        let accessGranted: Bool
        let offerId: OfferId
        let originalTransactionId: String
    }

    let id: String
    /// Among synchronizations and grants, in the order of arrival.
    let sequence: Int
    let kind: Kind
    let connector: Connector
    /// For Google, the purchase token.
    let transactionId: String
    /// Google only.
    let packageName: String?
    /// To whom the purchase is to belong.
    let email: EmailAddress
    let customerId: Int
    /// The behaviour of that customer when the call came.
    let behaviour: Behaviour
    /// nil while it runs.
    var outcome: Outcome?
}

extension Synchronization {
    /// How far it is, as a read shows it.
    var state: [String: AnyJSON] {
        guard let outcome else {
            return ["status": .string(behaviour.of(connector).retries ? "retrying" : "processing")]
        }
        return [
            "status": .string("finalized"), "result": .string(outcome.result.rawValue),
            "accessGranted": .bool(outcome.accessGranted), "offerId": .string(outcome.offerId.text),
        ]
    }

    /// What comes of it.
    /// - Parameter owner: to whom the transaction's subscription was given last.
    func result(
        of transaction: StoreTransaction, owner: Subscription.Owner?, at moment: SimulatedTime
    ) -> (SynchronizationResult, accessGranted: Bool) {
        switch behaviour.of(connector).finding {
        case .unknown: return (connector.notFound, false)
        case .expired: return (.expired, false)
        case nil: break
        }
        // Whether a subscription runs follows from its status, not from when a transaction of it ends: it may have been
        // renewed since.
        if let owner, owner.status.entitles {
            switch (kind, owner.email == email) {
            case (.transfer, false): return (.transferred, true)
            case (.registration, false): return (.unchanged, false)
            case (.transfer, true): return (.unchanged, true)
            // Of another offer it is an upgrade.
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

/// How Cleeng says what came of a purchase.
enum SynchronizationResult: String, Sendable {
    /// A subscription was made. Cleeng's own word for it is not published.
    case registered = "PURCHASE_REGISTERED"
    case transferred = "PURCHASE_OWNERSHIP_TRANSFERRED"
    /// The owner stays the same.
    case unchanged = "PURCHASE_OWNERSHIP_UNCHANGED"
    case expired = "RECEIVED_EXPIRED_PURCHASE"
    case transactionNotFound = "TRANSACTION_ID_NOT_FOUND"
    /// The simulator's own word for it.
    case tokenNotFound = "PURCHASE_TOKEN_NOT_FOUND"
}

/// What its store would say of a purchase if it were asked.
struct StoreTransaction: Sendable, Equatable {
    /// Id of its subscription.
    let originalTransactionId: String
    let offerId: OfferId
    /// nil: not known, and not over.
    let expiresAt: SimulatedTime?

    func isOver(at moment: SimulatedTime) -> Bool { expiresAt.map { $0 <= moment } ?? false }
}

/// A synchronization that will be finalized.
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

/// The synchronizations that run, one for each transaction at most, and the last ones that ran.
struct SynchronizationTable: Sendable {
    /// Synchronizations by id in lower case: a UUID is the same in either.
    private var table: BoundedTable<String, Synchronization>
    /// The ids of those that run, by transaction.
    private var running: [String: String] = [:]
    /// The ids of the last ones, by purchase token: Google's are made once.
    private var registered: [String: String] = [:]
    private var lastId = 0

    init(capacity: Int) {
        table = BoundedTable(capacity: capacity)
    }

    var runningCount: Int { running.count }

    subscript(id: String) -> Synchronization? { table[id.lowercased()] }

    /// The one that a request is a repeat of: it runs, or it registered the same purchase token.
    func existing(_ request: SynchronizationRequest) -> Synchronization? {
        let id = running[request.transactionId]
        guard request.connector == .google else { return nil }
        return (id ?? (request.kind == .registration ? registered[request.transactionId] : nil)).flatMap { table[$0] }
    }

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

    /// Notes what came of one; nothing where it has been forgotten.
    mutating func finish(_ synchronization: Synchronization, _ outcome: Synchronization.Outcome) {
        let key = synchronization.id.lowercased()
        guard table[key]?.sequence == synchronization.sequence else { return }
        table[key]?.outcome = outcome
        running[synchronization.transactionId] = nil
    }
}
