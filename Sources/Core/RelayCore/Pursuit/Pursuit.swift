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
