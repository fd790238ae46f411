extension Pursuit {
    /// The step that a pursuit is at. The numbers are stored, and claimed by: a version that does not know a connector leaves its
    /// purchases alone.
    public enum Phase: Sendable, Hashable {
        /// Cleeng has not taken the purchase yet. May go to `watching`, or finish.
        case forwarding
        /// Cleeng took it; access is waited for. May go to `registering` or `forwarding`, or finish.
        case watching
        /// Its row could not be written; it waits for an operator. May go back to `forwarding` or `registering`.
        case parked
        /// Cleeng has not taken the registration, or the transfer, yet. May go to `synchronizing`, `watching` or `forwarding`, or finish.
        case registering(Connector)
        /// Cleeng took it, and says how far it is. May go to `registering`, `watching` or `forwarding`, or finish.
        case synchronizing(Connector)

        /// Nil where the purchase goes as a receipt.
        public var connector: Connector? {
            switch self {
            case .registering(let connector), .synchronizing(let connector): connector
            case .forwarding, .watching, .parked: nil
            }
        }

        public var isRegistering: Bool { if case .registering = self { true } else { false } }
        public var isSynchronizing: Bool { if case .synchronizing = self { true } else { false } }

        /// Whether it is to be sent.
        public var isUnsent: Bool { self == .forwarding || isRegistering }

        public static let registering = Connector.allCases.map(Phase.registering)
        public static let synchronizing = Connector.allCases.map(Phase.synchronizing)
        /// Phases of what is to be sent.
        public static let unsent = [.forwarding] + registering
        /// Phases of what Cleeng has.
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
    /// As spans name it.
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
