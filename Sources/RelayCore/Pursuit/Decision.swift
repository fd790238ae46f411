/// What a pursuit decided upon an event.
public struct Decision: Sendable, Equatable {
    /// A change of status, with what justifies it.
    public struct Change: Sendable, Equatable {
        public var status: ValidationStatus
        public var reason: String?
        public var late = false
        public var at: Timestamp
        public var expiresAt: Timestamp?
        /// Whether an ``expiresAt`` of nil means that access has no end. Else nobody has said when it ends, and Cleeng is asked.
        public var namesEnd = true
        /// JSON: what Cleeng said. A grant has always one.
        public var evidence: String?
        /// When the read that the grant rests on was sent.
        public var observedAt: Timestamp?
        /// When Cleeng made a statement that has no time of its own, such as an event: when it came. What it states may have been true only at
        /// ``observedAt``.
        public var statedAt: Timestamp?
        /// Cleeng named this purchase and not its customer's access alone, as a synchronization's result does.
        public var isProven = false

        /// Until when Cleeng granted, as the ledger keeps it (``LedgerEnd/until``).
        public var grantedUntil: Timestamp? { expiresAt ?? (namesEnd ? nil : rankedAt) }
        /// The time by which the ledger ranks the grant among Cleeng's statements about the same customer.
        public var rankedAt: Timestamp { statedAt ?? observedAt ?? at }
    }

    public enum Next: Sendable, Equatable {
        /// Send the purchase upstream now.
        case forward
        /// Read the customer's entitlement now.
        case read
        /// Give the lease back and come again then.
        case rest(until: Timestamp)
        /// Nothing is left to do.
        case finished
    }

    /// The last status that this event led to, where it changed at all.
    public var change: Change?
    /// What the timeline gets, in order.
    public var events: [TimelineEvent]
    public var next: Next

    public init(change: Change? = nil, events: [TimelineEvent] = [], next: Next) {
        self.change = change
        self.events = events
        self.next = next
    }
}
