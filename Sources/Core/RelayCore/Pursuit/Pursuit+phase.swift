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
