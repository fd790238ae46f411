import RelayStore

/// By what an operator acts.
enum Door: String, Sendable, CaseIterable {
    case console, api, commandLine
}

extension AuditEntry.Action {
    /// The doors that offer it. The ops API leaves out what needs more than a key: a person at the console, or access to the database.
    var doors: Set<Door> {
        switch self {
        // The other doors have no sessions.
        case .signedIn, .signedOut: [.console]
        case .validationRetried, .validationAbandoned, .notificationReplayed, .notificationTested, .topicConfirmed,
            .webhookReplayed, .eventReplayed,
            .subscriptionReplayed, .refundsLookedUp, .customerRefreshed:
            [.console, .api, .commandLine]
        // The console acts on rows that somebody has selected.
        case .validationsReplayed: [.api, .commandLine]
        case .customerResynced, .endpointEnabled, .endpointDisabled, .keyRevoked: [.console, .commandLine]
        // They take secrets, files, or settings that only the machine has, or reach every publisher.
        case .endpointAdded, .endpointRemoved, .endpointTested, .keyCreated, .publisherAdded, .publisherShares,
            .offersImported, .offerRemoved, .retentionRun, .customerExported, .customerErased, .encryptionEnabled,
            .encryptionDisabled, .keysRotated:
            [.commandLine]
        }
    }
}
