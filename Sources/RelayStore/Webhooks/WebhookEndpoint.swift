public import RelayCore

/// Endpoint that notifies a publisher's back end of changes.
public struct WebhookEndpoint: Sendable, Equatable {
    /// What it receives.
    public enum Kind: Sendable, Equatable {
        /// Each change of a customer's purchases, with all of them.
        case purchases
        /// Events of these names, by their ids.
        case events([String])

        var stored: StoredKind { self == .purchases ? .purchases : .events }
    }

    enum StoredKind: Int16 {
        case purchases = 1
        case events = 2
    }

    public var id: EndpointID
    public var publisher: PublisherID
    public var kind: Kind
    public var url: String
    public var environment: WebhookEnvironment
    /// It stands in the configuration.
    public var isFromSettings: Bool
    public var createdAt: Timestamp
    public var lastSuccessAt: Timestamp?
    public var failingSince: Timestamp?
    public var disabledAt: Timestamp?
    /// One of ``EndpointStanding/Reason``.
    public var disabledReason: String?

    public var isActive: Bool { disabledAt == nil }

    public var standing: EndpointStanding {
        EndpointStanding(failingSince: failingSince, lastSuccessAt: lastSuccessAt, isDisabled: !isActive)
    }
}
