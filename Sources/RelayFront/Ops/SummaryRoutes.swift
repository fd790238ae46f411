import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/summary`: how things stand.
struct SummaryRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] { [.get("/ops/summary", summary)] }

    private func summary(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        var writer = JSONWriter(capacity: 1_024)
        writer.summary(try await store.summary(in: scope))
        return .json(writer)
    }
}

extension JSONWriter {
    mutating func summary(_ summary: OpsSummary) {
        func seconds(_ age: Duration?) -> Int? { age.map { Int(max($0, .zero).components.seconds) } }
        beginObject()
        beginObject("countsByStatus")
        for status in ValidationStatus.allCases { count(status, summary.countsByStatus[status] ?? 0) }
        endObject()
        field("oldestPendingSeconds", seconds(summary.oldestPending))
        beginObject("upstream")
        // With no worker running nothing reaches Cleeng, whatever Cleeng's own state is.
        field("state", summary.upstream?.state.rawValue ?? "down")
        field("since", summary.upstream?.since)
        field("lastError", summary.upstream == nil ? "no worker is running" : summary.upstream?.lastError)
        endObject()
        beginObject("backlog")
        field("forwarding", summary.backlog.forwarding)
        field("watching", summary.backlog.watching)
        field("parked", summary.backlog.parked)
        field("overdue", summary.backlog.overdue)
        field("oldestForwardingSeconds", seconds(summary.backlog.oldestForwarding))
        field("oldestParkedSeconds", seconds(summary.backlog.oldestParked))
        field("outbox", summary.backlog.outbox)
        field("notifications", summary.notifications.waiting)
        field("notificationsRefused", summary.notifications.refused)
        field("oldestNotificationSeconds", seconds(summary.notifications.oldest))
        field("webhooks", summary.webhooks.waiting)
        field("webhooksRetrying", summary.webhooks.retrying)
        field("oldestWebhookSeconds", seconds(summary.webhooks.oldest))
        field("webhookEndpointsFailing", summary.webhooks.failing)
        field("webhookEndpointsDisabled", summary.webhooks.disabled)
        field("eventsParked", summary.parkedItems[.events])
        field("webhooksParked", summary.parkedItems[.webhooks])
        field("notificationsParked", summary.parkedItems[.notifications])
        field("subscriptionsParked", summary.parkedItems[.subscriptions])
        field("oldestItemParkedSeconds", seconds(summary.parkedItems.oldest))
        field("accessUnwatched", summary.accessProblems[.unwatched] ?? 0)
        field("accessOverdue", summary.accessProblems[.overdue] ?? 0)
        endObject()
        endObject()
    }

    private mutating func count(_ status: ValidationStatus, _ number: Int) {
        switch status {
        case .pending: field("pending", number)
        case .granted: field("granted", number)
        case .rejected: field("rejected", number)
        case .timedOut: field("timed_out", number)
        case .transferred: field("transferred", number)
        case .revoked: field("revoked", number)
        }
    }
}
