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
