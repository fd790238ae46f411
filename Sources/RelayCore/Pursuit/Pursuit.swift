/// The pursuit of one accepted purchase, from the first try to send it until Cleeng's word on it is known.
///
/// A pure state machine: an event goes in, a ``Decision`` comes out, and nothing else happens. The worker that holds the
/// pursuit's lease feeds it and carries out what it decides. ARCHITECTURE.md draws it.
///
/// A connector of Cleeng's names its synchronization of a purchase, and reports the result itself.
///
/// The deadline does not end a pursuit: it turns the status to `timed_out`, and the purchase is still sent, the entitlement
/// still watched for.
public struct Pursuit: Sendable, Equatable {
    public var phase: Phase
    public var status: ValidationStatus
    public let acceptedAt: Timestamp
    public let deadline: Timestamp
    /// How often it was sent to Cleeng, whether an answer came or not. A process may die while it sends: the next claim counts that
    /// forward.
    public var forwards: Int
    /// The earliest moment of the next forward; nil: at once.
    public var retryAt: Timestamp?
    /// When Cleeng took the purchase. Of one whose answer was lost: when the wait for the answer ended.
    public var forwardedAt: Timestamp?
    /// The earliest moment of the next entitlement read; nil: at once.
    public var readAt: Timestamp?
    /// Whether the customer was entitled already before the purchase was first sent; nil while or where not known.
    public var entitledBefore: Bool?
    /// Cleeng's name for what it does, while `synchronizing`.
    public var synchronization: String?
    /// Connectors only: the purchase belongs to another customer, and its transfer is, or was, requested.
    public var transfers: Bool
    /// Google Play connector only: Cleeng named an existing synchronization instead of starting one. It may be old, or
    /// another customer's. In `watching` it has ended, and left the purchase with some customer; if with another one, a
    /// transfer follows.
    public var foundSynchronization: Bool
    /// While `watching`: an event of Cleeng's said that this purchase was refused, and why. The next entitlement read decides.
    public var refusal: String?
    /// A connector never sees what was signed: of what is known not to be genuine no transfer is asked for. Nor is it of what
    /// takes no subscription from another customer.
    public let mayTransfer: Bool
    /// Connectors only: signed end of the paid time, if known. Cleeng does not say.
    public let paidUntil: Timestamp?
    /// Its store has confirmed it. Of what no store has, nobody knows that it is a subscription.
    public let isConfirmed: Bool

    public init(
        phase: Phase = .forwarding, status: ValidationStatus = .pending, acceptedAt: Timestamp, deadline: Timestamp,
        forwards: Int = 0, retryAt: Timestamp? = nil, forwardedAt: Timestamp? = nil, readAt: Timestamp? = nil,
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
        self.forwardedAt = forwardedAt
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
