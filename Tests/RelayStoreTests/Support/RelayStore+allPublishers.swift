import Foundation
import RelayCore
import RelayStore

/// For tests with one publisher: what ops reads and does, with every publisher in scope. The product has no such default.
extension RelayStore {
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

    func notifications(matching filter: NotificationFilter) async throws -> (
        items: [OpsNotification], next: ValidationCursor?
    ) { try await notifications(matching: filter, in: .all) }

    func notification(_ id: NotificationID) async throws -> (OpsNotification, body: Private<[UInt8]>)? {
        try await notification(id, in: .all)
    }

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

    func auditLog(matching filter: AuditFilter) async throws -> (items: [AuditRecord], next: AuditCursor?) {
        try await auditLog(matching: filter, in: .all)
    }

    func keys(includingRevoked: Bool) async throws -> [APIKey] {
        try await keys(includingRevoked: includingRevoked, in: .all)
    }

    func revokeKey(_ id: APIKeyID) async throws -> Bool { try await revokeKey(id, in: .all) != nil }

    func parkedItems() async throws -> ParkedItems { try await parkedItems(in: .all) }

    func events(matching filter: EventFilter) async throws -> (items: [OpsEvent], next: ValidationCursor?) {
        try await events(matching: filter, in: .all)
    }

    func replayParkedDelivery(_ id: DeliveryID, by: String, reason: String?) async throws -> Bool {
        try await replayParkedDelivery(id, in: .all, by: by, reason: reason)
    }

    func backlog() async throws -> (OpsSummary.Backlog, oldestPending: Duration?) { try await backlog(in: .all) }

    func notificationBacklog() async throws -> NotificationBacklog { try await notificationBacklog(in: .all) }

    func webhookBacklog() async throws -> WebhookBacklog { try await webhookBacklog(in: .all) }

    func upstream() async throws -> InstanceReport? { try await upstream(in: .all) }

    func listPublishers() async throws -> [Publisher] { try await listPublishers(in: .all) }

    func disableEndpoint(_ id: EndpointID, _ reason: EndpointStanding.Reason) async throws -> Bool {
        try await disableEndpoint(id, reason, in: .all) != nil
    }
}

/// What operators do, together with its row in the audit log.
extension RelayStore {
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
        _ act: @Sendable (RelayStore) async throws -> OpsScope?
    ) async throws -> Bool {
        try await transaction { store in
            guard let owner = try await act(store) else { return false }
            try await store.audit(
                AuditEntry(actor: actor, action, target, of: owner.publisher, reason: reason))
            return true
        }
    }
}
