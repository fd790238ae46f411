import Relay

/// Interface through which an operator acts.
enum Door: String, Sendable, CaseIterable {
    case console, api, commandLine
}

extension AuditEntry.Action {
    /// The interfaces that offer the act. The ops API omits acts that need more than a key: a person at the console, or
    /// access to the database.
    var doors: Set<Door> {
        switch self {
        // The other interfaces have no sessions.
        case .signedIn, .signedOut: [.console]
        case .validationRetried, .validationAbandoned, .notificationReplayed, .notificationTested, .topicConfirmed,
            .webhookReplayed, .eventReplayed,
            .subscriptionReplayed, .refundsLookedUp, .customerRefreshed:
            [.console, .api, .commandLine]
        // The console acts on selected rows instead.
        case .validationsReplayed: [.api, .commandLine]
        case .customerResynced, .endpointEnabled, .endpointDisabled, .keyRevoked: [.console, .commandLine]
        // These acts need secrets, files or settings of the machine, or concern every publisher.
        case .endpointAdded, .endpointRemoved, .endpointTested, .keyCreated, .publisherAdded, .publisherShares,
            .offersImported, .offerRemoved, .retentionRun, .customerExported, .customerErased, .encryptionEnabled,
            .encryptionDisabled, .keysRotated:
            [.commandLine]
        }
    }
}
