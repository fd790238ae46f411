import Foundation
import RelayCore

@testable import Relay

// Reads and acts of operators for tests with one publisher, with every publisher in scope. The product has no such
// default.

extension OpsStore {
    func validations(matching filter: ValidationFilter) async throws -> (
        items: [ListedValidation], next: ValidationCursor?
    ) { try await validations(matching: filter, in: .all) }

    func detail(_ id: ValidationID) async throws -> ValidationDetail? { try await detail(id, in: .all) }

    func summary(isCounting: Bool = true) async throws -> OpsSummary {
        try await summary(isCounting: isCounting, in: .all)
    }

    func retry(_ id: ValidationID, by: String, reason: String) async throws {
        try await retry(id, within: .all, by: by, reason: reason)
    }

    func abandon(_ id: ValidationID, by: String, reason: String) async throws {
        try await abandon(id, within: .all, by: by, reason: reason)
    }

    func replay(
        _ filter: ReplayFilter, by: String, reason: String, isDryRun: Bool = false
    ) async throws -> ReplayPage {
        let found = try await replayTargets(filter, in: .all)
        return isDryRun ? found : try await replay(found, in: .all, by: by, reason: reason)
    }

    func subscriptions(matching filter: SubscriptionFilter) async throws -> (
        items: [OpsSubscription], next: SubscriptionCursor?
    ) { try await subscriptions(matching: filter, in: .all) }

    func notification(_ id: NotificationID) async throws -> (OpsNotification, body: Private<[UInt8]>)? {
        try await notification(id, in: .all)
    }

    func replayParkedDelivery(_ id: DeliveryID, by: String, reason: String?) async throws -> Bool {
        try await replayParkedDelivery(id, in: .all, by: by, reason: reason)
    }

    func backlog() async throws -> (OpsSummary.Backlog, oldestPending: Duration?) { try await backlog(in: .all) }
}

extension WebhookStore {
    func deliveries(matching filter: DeliveryFilter) async throws -> (items: [OpsDelivery], next: ValidationCursor?) {
        try await deliveries(matching: filter, in: .all)
    }

    func delivery(_ id: DeliveryID) async throws -> OpsDelivery? { try await delivery(id, in: .all) }

    func repeatTargets(_ filter: RepeatFilter) async throws -> [RepeatTarget] {
        try await repeatTargets(filter, in: .all)
    }

    func endpoints() async throws -> [WebhookEndpoint] { try await endpoints(in: .all) }

    func endpoint(_ id: EndpointID) async throws -> WebhookEndpoint? { try await endpoint(id, in: .all) }

    func enableEndpoint(_ id: EndpointID) async throws -> Bool { try await enableEndpoint(id, in: .all) != nil }

    func backlog() async throws -> WebhookBacklog { try await backlog(in: .all) }

    func disableEndpoint(_ id: EndpointID, _ reason: EndpointHealth.Reason) async throws -> Bool {
        try await disableEndpoint(id, reason, in: .all) != nil
    }
}

extension AuditStore {
    func list(matching filter: AuditFilter) async throws -> (items: [AuditRecord], next: AuditCursor?) {
        try await list(matching: filter, in: .all)
    }
}

extension KeyStore {
    func list(includingRevoked: Bool) async throws -> [APIKey] {
        try await list(includingRevoked: includingRevoked, in: .all)
    }

    func revoke(_ id: APIKeyID) async throws -> Bool { try await revoke(id, in: .all) != nil }
}

extension QueueStore {
    func parked() async throws -> ParkedItems { try await parked(in: .all) }
}

extension ParkedItems {
    var total: Int { counts.values.reduce(0, +) }
}

extension InstanceStore {
    func upstream() async throws -> InstanceReport? { try await workers(in: .all).report }
}

extension PublisherStore {
    func list() async throws -> [Publisher] { try await list(in: .all) }
}

/// Acts of operators together with their rows in the audit log.
extension OpsStore {
    func retry(_ id: ValidationID, within scope: OpsScope, by: String, reason: String) async throws {
        _ = try await audited(.validationRetried, "\(id)", by, reason) {
            .publisher(try await $0.retry(id, in: scope, by: by, reason: reason))
        }
    }

    func abandon(_ id: ValidationID, within scope: OpsScope, by: String, reason: String) async throws {
        _ = try await audited(.validationAbandoned, "\(id)", by, reason) {
            try await $0.abandon(id, in: scope, by: by, reason: reason).map { .publisher($0) } ?? .all
        }
    }

    func replayEvent(_ id: NotificationID, in scope: OpsScope, by: String, reason: String?) async throws -> Bool {
        try await audited(.eventReplayed, "\(id)", by, reason) { try await $0.replayEvent(id, in: scope) }
    }

    func replayParkedDelivery(
        _ id: DeliveryID, in scope: OpsScope, by: String, reason: String?
    ) async throws -> Bool {
        try await audited(.webhookReplayed, "\(id)", by, reason) { try await $0.replayParkedDelivery(id, in: scope) }
    }

    func replaySubscription(
        _ name: SubscriptionName, in scope: OpsScope, by: String, reason: String?
    ) async throws -> Bool {
        try await audited(.subscriptionReplayed, name.originalTransactionID.text, by, reason) {
            try await $0.replaySubscription(name, in: scope) ? .publisher(name.publisher) : nil
        }
    }

    private func audited(
        _ action: AuditEntry.Action, _ target: String, _ actor: String, _ reason: String?,
        _ act: @Sendable (OpsStore) async throws -> OpsScope?
    ) async throws -> Bool {
        try await relay.transaction { store in
            guard let owner = try await act(store.ops) else { return false }
            try await store.audit.add(
                AuditEntry(actor: actor, action, target, of: owner.publisher, reason: reason))
            return true
        }
    }
}
