/// What happens to a customer's purchases that come by one of the connectors.
struct ConnectorBehaviour: Sendable, Equatable {
    /// What Cleeng hears of the purchase from its store.
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

    /// Whether it does no more than refuse calls: only that can be for everybody.
    var refusesOnly: Bool { finding == nil && !retries && !answersRepeats && !makesIds }

    /// Adds what a name such as `unknown` or `inactive` means.
    /// - Returns: false, with nothing changed, where it means nothing.
    mutating func adopt(_ words: ArraySlice<Substring>, of connector: Connector) -> Bool {
        guard words.count == 1 else { return false }
        switch words.first {
        case "unknown": finding = .unknown
        case "expired": finding = .expired
        case "retrying": retries = true
        case "inactive": isInactive = true
        case "migrating": isMigrating = true
        case "idempotent" where connector == .google: answersRepeats = true
        case "renaming" where connector == .google: makesIds = true
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
