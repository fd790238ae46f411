/// Behaviour for a customer's purchases through a connector.
struct ConnectorBehaviour: Sendable, Equatable {
    /// The store's answer to Cleeng about the purchase.
    enum Finding: Sendable, Equatable { case unknown, expired }

    /// nil: the simulator's own data decides.
    var finding: Finding?
    /// Whether reads show `retrying` instead of `processing` until it is finalized.
    var retries = false
    /// Whether calls are answered as if the publisher had not set up the connector.
    var isInactive = false
    /// Whether purchases cannot be moved for now.
    var isMigrating = false
    /// Whether a repeated registration is answered with the earlier result instead of 409.
    var answersRepeats = false
    /// Whether `Correlation-Id` is ignored as an id.
    var makesIds = false
    /// Time between the end of a synchronization and the first read that shows the entitlement.
    var lagMilliseconds: Int64 = 0

    /// Whether it only refuses calls: only such a behaviour can apply to all customers.
    var refusesOnly: Bool { finding == nil && !retries && !answersRepeats && !makesIds && lagMilliseconds == 0 }

    /// Adds the behaviour with a name such as `unknown` or `lagging-2s`.
    /// - Returns: false, without a change, for an unknown name.
    mutating func adopt(_ words: ArraySlice<Substring>, of connector: Connector) -> Bool {
        switch (words.first, words.count) {
        case ("unknown", 1): finding = .unknown
        case ("expired", 1): finding = .expired
        case ("retrying", 1): retries = true
        case ("inactive", 1): isInactive = true
        case ("migrating", 1): isMigrating = true
        case ("idempotent", 1) where connector == .google: answersRepeats = true
        case ("renaming", 1) where connector == .google: makesIds = true
        case ("lagging", 2):
            guard let lag = words.last.flatMap(Disturbance.milliseconds) else { return false }
            lagMilliseconds = lag
        default: return false
        }
        return true
    }
}

extension Behaviour {
    /// Behaviour for the purchases of one connector.
    func of(_ connector: Connector) -> ConnectorBehaviour {
        switch connector {
        case .storekit2: storeKit2
        case .google: google
        }
    }
}
