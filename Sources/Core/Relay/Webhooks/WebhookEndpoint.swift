public import RelayCore

/// Endpoint of a publisher's back end that receives messages about changes.
public struct WebhookEndpoint: Sendable, Equatable {
    /// Messages that an endpoint receives.
    public enum Kind: Sendable, Equatable {
        /// Each change of a customer's purchases, with the complete list.
        case purchases
        /// Events with these ids.
        case events([String])

        var stored: StoredKind { self == .purchases ? .purchases : .events }
    }

    package enum StoredKind: Int16 {
        case purchases = 1
        case events = 2
    }

    public var id: EndpointID
    public var publisher: PublisherID
    public var kind: Kind
    public var url: String
    public var environment: WebhookEnvironment
    /// Whether the configuration lists it.
    public var isFromSettings: Bool
    public var createdAt: Timestamp
    public var lastSuccessAt: Timestamp?
    public var failingSince: Timestamp?
    public var disabledAt: Timestamp?
    /// One of ``EndpointHealth/Reason``.
    public var disabledReason: String?

    public var isActive: Bool { disabledAt == nil }

    public var health: EndpointHealth {
        EndpointHealth(failingSince: failingSince, lastSuccessAt: lastSuccessAt, isDisabled: !isActive)
    }
}
