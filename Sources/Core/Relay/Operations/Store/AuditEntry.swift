import Formats
import Foundation
public import RelayCore

/// A manual action, as recorded in the audit log.
public struct AuditEntry: Sendable, Equatable {
    /// Kind of action. The texts are stored.
    public enum Action: String, Sendable, CaseIterable {
        case signedIn = "session.begin"
        case signedOut = "session.end"
        case validationRetried = "validation.retry"
        case validationAbandoned = "validation.abandon"
        case validationsReplayed = "validation.replay"
        case notificationReplayed = "notification.replay"
        case notificationTested = "notification.test"
        case topicConfirmed = "topic.confirm"
        case webhookReplayed = "webhook.replay"
        case eventReplayed = "event.replay"
        case subscriptionReplayed = "subscription.replay"
        case refundsLookedUp = "subscription.refunds"
        case customerResynced = "webhook.resync"
        case endpointAdded = "endpoint.add"
        case endpointRemoved = "endpoint.remove"
        case endpointEnabled = "endpoint.enable"
        case endpointDisabled = "endpoint.disable"
        case endpointTested = "endpoint.test"
        case keyCreated = "key.create"
        case keyRevoked = "key.revoke"
        case publisherAdded = "publisher.add"
        case publisherShares = "publisher.use_common_account"
        case offersImported = "offers.import"
        case offerRemoved = "offers.remove"
        case retentionRun = "retention.run"
        case customerRefreshed = "customer.refresh"
        case customerExported = "customer.export"
        case customerErased = "customer.erase"
        case encryptionEnabled = "encryption.enable"
        case encryptionDisabled = "encryption.disable"
        case keysRotated = "encryption.rotate"
    }

    /// Actor for the relay itself, where it automatically does what operators also do.
    public static let relay = "relay"

    /// A key's name with its id, `USER (command line)`, or ``relay``.
    public var actor: String
    public var action: Action
    /// Target of the action: an id, a name, or a range.
    public var target: String
    /// Publisher whose ops keys see the row; nil: only keys of all publishers do.
    public var publisher: PublisherID?
    public var reason: String?

    public init(actor: String, _ action: Action, _ target: String, of publisher: PublisherID?, reason: String? = nil) {
        self.actor = actor
        self.action = action
        self.target = target
        self.publisher = publisher
        self.reason = reason
    }
}

/// A row of the audit log.
public struct AuditRecord: Sendable {
    public var at: Timestamp
    public var actor: String
    /// The stored text: a later version may know more actions.
    public var action: String
    public var target: Private<String>
    public var reason: Private<String>?
}

/// Filter of the audit log.
public struct AuditFilter: Sendable {
    public var action: AuditEntry.Action?
    /// Part of the actor's name.
    public var actor: String?
    /// Exact target.
    public var target: String?
    public var limit: Int
    public var cursor: AuditCursor?

    public init(
        action: AuditEntry.Action? = nil, actor: String? = nil, target: String? = nil, limit: Int = 50,
        cursor: AuditCursor? = nil
    ) {
        self.action = action
        self.actor = actor
        self.target = target
        self.limit = limit
        self.cursor = cursor
    }
}

/// Position after the last row of a page: `MICROSECONDS-UUID`.
public struct AuditCursor: Sendable, CustomStringConvertible {
    let at: Timestamp
    let id: UUID

    public init?(_ text: String) {
        let parts = text.parts(at: "-", maxSplits: 1)
        guard parts.count == 2, let microseconds = Int64(parts[0]), let id = UUID(uuidString: String(parts[1])),
            let moment = Timestamp(datable: microseconds)
        else { return nil }
        self.init(at: moment, id: id)
    }

    init(at: Timestamp, id: UUID) {
        self.at = at
        self.id = id
    }

    public var description: String { "\(at.microseconds)-\(id.uuidString.lowercased())" }
}
