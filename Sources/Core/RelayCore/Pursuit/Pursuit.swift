/// The pursuit of one accepted purchase, from the first forward until Cleeng's result is known.
///
/// A pure state machine: an event goes in, a ``Decision`` comes out. The worker that holds the lease supplies the
/// events and executes the decisions. ARCHITECTURE.md draws it.
///
/// A connector of Cleeng's names its synchronization of a purchase and reports the result itself.
///
/// The deadline does not end a pursuit. It sets the status to `timed_out`; forwards and entitlement reads continue.
public struct Pursuit: Sendable, Equatable {
    public var phase: Phase
    public var status: ValidationStatus
    public let acceptedAt: Timestamp
    public let deadline: Timestamp
    /// Number of forwards to Cleeng, with or without an answer. If a process dies during a forward, the next claim
    /// counts it.
    public var forwards: Int
    /// Earliest time of the next forward; nil: at once.
    public var retryAt: Timestamp?
    /// Time from which Cleeng's result is watched; nil while the purchase must be sent. Set when Cleeng accepts it, and
    /// when its forwards end after a try that may have reached Cleeng. Cleared when it is sent anew. Stored as
    /// `forwarded_at`.
    public var watchedSince: Timestamp?
    /// Earliest time of the next entitlement read; nil: at once.
    public var readAt: Timestamp?
    /// Whether the customer was entitled before the first forward; nil if unknown.
    public var entitledBefore: Bool?
    /// Cleeng's name of the synchronization, while `synchronizing`.
    public var synchronization: String?
    /// Connectors only: the purchase belongs to another customer, and its transfer is or was requested.
    public var transfers: Bool
    /// Google Play connector only: Cleeng named an existing synchronization instead of starting one. It may be old or
    /// another customer's. In `watching` it has ended and left the purchase with some customer. If that is another
    /// customer, a transfer follows.
    public var foundSynchronization: Bool
    /// While `watching`: reason of an event by which Cleeng refused this purchase. The next entitlement read decides.
    public var refusal: String?
    /// Whether a transfer may be requested. A connector never sees signed data, so a purchase that is not genuine gets
    /// no transfer. Neither does a purchase that may not take a subscription from another customer.
    public let mayTransfer: Bool
    /// Connectors only: signed end of the paid period, if known. Cleeng does not report it.
    public let paidUntil: Timestamp?
    /// Whether the store confirmed the purchase. An unconfirmed one might not be a subscription.
    public let isConfirmed: Bool

    public init(
        phase: Phase = .forwarding, status: ValidationStatus = .pending, acceptedAt: Timestamp, deadline: Timestamp,
        forwards: Int = 0, retryAt: Timestamp? = nil, watchedSince: Timestamp? = nil, readAt: Timestamp? = nil,
        entitledBefore: Bool? = nil, synchronization: String? = nil, transfers: Bool = false,
        foundSynchronization: Bool = false, refusal: String? = nil, mayTransfer: Bool = true,
        paidUntil: Timestamp? = nil, isConfirmed: Bool = false
    ) {
        self.phase = phase
        self.status = status
        self.acceptedAt = acceptedAt
        self.deadline = deadline
        self.forwards = forwards
        self.retryAt = retryAt
        self.watchedSince = watchedSince
        self.readAt = readAt
        self.entitledBefore = entitledBefore
        self.synchronization = synchronization
        self.transfers = transfers
        self.foundSynchronization = foundSynchronization
        self.refusal = refusal
        self.mayTransfer = mayTransfer
        self.paidUntil = paidUntil
        self.isConfirmed = isConfirmed
    }
}

extension Pursuit {
    /// The step of a pursuit. Raw values are stored, and workers claim by them: a version that does not know a
    /// connector leaves its purchases alone.
    public enum Phase: Sendable, Hashable {
        /// Cleeng has not accepted the purchase yet. Next: `watching`, or the end.
        case forwarding
        /// Cleeng accepted the purchase, and entitlement reads wait for access. Next: `registering`, `forwarding`, or
        /// the end.
        case watching
        /// The row could not be written; an operator must act. Next: `forwarding` or `registering`.
        case parked
        /// Cleeng has not accepted the registration or transfer yet. Next: `synchronizing`, `watching`, `forwarding`,
        /// or the end.
        case registering(Connector)
        /// Cleeng accepted the registration and reports its state. Next: `registering`, `watching`, `forwarding`, or
        /// the end.
        case synchronizing(Connector)

        /// Nil if the purchase is sent as a receipt.
        public var connector: Connector? {
            switch self {
            case .registering(let connector), .synchronizing(let connector): connector
            case .forwarding, .watching, .parked: nil
            }
        }

        public var isRegistering: Bool { if case .registering = self { true } else { false } }
        public var isSynchronizing: Bool { if case .synchronizing = self { true } else { false } }

        /// Whether it must be sent.
        public var isUnsent: Bool { self == .forwarding || isRegistering }

        public static let registering = Connector.allCases.map(Phase.registering)
        public static let synchronizing = Connector.allCases.map(Phase.synchronizing)
        /// Phases in which the purchase must be sent.
        public static let unsent = [.forwarding] + registering
        /// Phases in which Cleeng has the purchase.
        public static let taken = [.watching] + synchronizing
    }
}

extension Pursuit.Phase: RawRepresentable {
    public init?(rawValue: Int16) {
        switch rawValue {
        case 0: self = .forwarding
        case 1: self = .watching
        case 2: self = .parked
        case 3: self = .registering(.storekit2)
        case 4: self = .synchronizing(.storekit2)
        case 5: self = .registering(.google)
        case 6: self = .synchronizing(.google)
        default: return nil
        }
    }

    public var rawValue: Int16 {
        switch self {
        case .forwarding: 0
        case .watching: 1
        case .parked: 2
        case .registering(.storekit2): 3
        case .synchronizing(.storekit2): 4
        case .registering(.google): 5
        case .synchronizing(.google): 6
        }
    }
}

extension Pursuit.Phase: CustomStringConvertible {
    /// Name in spans.
    public var description: String {
        switch self {
        case .forwarding: "forwarding"
        case .watching: "watching"
        case .parked: "parked"
        case .registering(.storekit2): "registering"
        case .synchronizing(.storekit2): "synchronizing"
        case .registering(.google): "registering_google"
        case .synchronizing(.google): "synchronizing_google"
        }
    }
}

/// A pursuit's decision about an event.
public struct Decision: Sendable, Equatable {
    /// A change of status and its evidence.
    public struct Change: Sendable, Equatable {
        public var status: ValidationStatus
        public var reason: String?
        public var late = false
        public var at: Timestamp
        public var expiresAt: Timestamp?
        /// Whether an ``expiresAt`` of nil means that access has no end. Otherwise the end is unknown, and Cleeng is
        /// asked.
        public var nilMeansEndless = true
        /// Cleeng's statement as JSON. Every grant has one.
        public var evidence: String?
        /// When the entitlement read behind the grant was sent.
        public var observedAt: Timestamp?
        /// Arrival time of a Cleeng statement that has no time of its own, such as an event. Its content may have been
        /// true only at ``observedAt``.
        public var statedAt: Timestamp?
        /// Whether Cleeng named this purchase, as a synchronization's result does, and not only its customer's access.
        public var isProven = false

        /// End of Cleeng's grant as the ledger stores it (``LedgerEnd/until``).
        public var grantedUntil: Timestamp? { expiresAt ?? (nilMeansEndless ? nil : rankedAt) }
        /// The time by which the ledger ranks the grant among Cleeng's statements about the same customer.
        public var rankedAt: Timestamp { statedAt ?? observedAt ?? at }
    }

    public enum Next: Sendable, Equatable {
        /// Send the purchase upstream now.
        case forward
        /// Read the customer's entitlement now.
        case read
        /// Release the lease and continue at that time.
        case rest(until: Timestamp)
        /// The pursuit is finished.
        case finished
    }

    /// The final status after this event, if it changed.
    public var change: Change?
    /// New events for the timeline, in order.
    public var events: [TimelineEvent]
    public var next: Next

    public init(change: Change? = nil, events: [TimelineEvent] = [], next: Next) {
        self.change = change
        self.events = events
        self.next = next
    }
}
