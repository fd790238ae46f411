/// What happens to a customer's purchases that come by one of the connectors.
struct ConnectorBehaviour: Sendable, Equatable {
    /// The store's answer to Cleeng about the purchase.
    enum Finding: Sendable, Equatable { case unknown, expired }

    /// nil: what the simulator knows of it.
    var finding: Finding?
    /// Says `retrying` rather than `processing` until it is finalized.
    var retries = false
    /// As if the publisher had not set the connector up.
    var isInactive = false
    /// Purchases cannot be moved for now.
    var isMigrating = false
    /// A purchase that was registered before is answered with what came of that, and not by 409.
    var answersRepeats = false
    /// `Correlation-Id` names nothing.
    var makesIds = false
    /// Time between the end of a synchronization and the first read that shows the entitlement.
    var lagMilliseconds: Int64 = 0

    /// Whether it does no more than refuse calls: only that can be for everybody.
    var refusesOnly: Bool { finding == nil && !retries && !answersRepeats && !makesIds && lagMilliseconds == 0 }

    /// Adds what a name such as `unknown` or `lagging-2s` means.
    /// - Returns: false, with nothing changed, where it means nothing.
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
    /// What happens to the purchases of one connector.
    func of(_ connector: Connector) -> ConnectorBehaviour {
        switch connector {
        case .storekit2: storeKit2
        case .google: google
        }
    }
}
