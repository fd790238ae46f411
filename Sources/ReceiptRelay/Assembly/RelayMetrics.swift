import RelayCore
import RelayStore
import RelayWorkers
import Telemetry

/// What is read from the database when metrics are scraped, and what the workers' metrics mean.
enum RelayMetrics {
    static func register(in registry: PrometheusRegistry, store: RelayStore) {
        registry.describe(
            "relay_worker_round_duration", help: "A worker's looks for work, idle ones too, with what was done at once."
        )
        registry.describe("relay_worker_failures", help: "A worker's looks that came to nothing by an error.")
        registry.describe(
            "relay_batch_size", help: "Elements that shared a statement.",
            buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500])
        registry.describe("relay_settlements", help: "Validations settled, by status.")
        registry.describe("relay_time_to_settle", help: "From acceptance to the settlement, by status.")
        registry.describe("relay_leases_lost", help: "Leases that could not be renewed in time.")
        registry.describe(
            "relay_writes_fenced_off", help: "Writes that changed nothing because the lease had passed on.")
        registry.describe("relay_pursuits_parked", help: "Pursuits parked for an operator.")
        registry.describe(
            "relay_items_parked", help: "Events, messages, notifications and subscriptions parked, by queue.")
        registry.describe("relay_notifications_sent", help: "Tries to pass a notification on to Cleeng, by verdict.")
        registry.describe(
            "relay_subscriptions_looked_up", help: "Answers of Cleeng or the App Store about how a subscription stands."
        )
        registry.describe(
            "relay_live_reads",
            help: "Questions to Cleeng because somebody wanted to know it now, by what came of them.")
        registry.describe("relay_app_store_calls", help: "Calls to the App Store Server API, by what they came to.")
        registry.describe(
            "relay_missed_notifications", help: "Notifications that the App Store had not delivered and was asked for.")
        registry.describe(
            "relay_ledgers_failed", help: "Looks at a subscription that came to nothing for what is in its row.")
        registry.describe(
            "relay_grants_corrected",
            help: "Grants that had no owner's number, or nobody who looks again, and were given one.")
        registry.describe("relay_webhook_tries", help: "Tries to deliver a message to an endpoint, by result.")
        registry.describe("relay_webhook_deliveries", help: "Messages to endpoints that ended, by state.")
        registry.describe("relay_webhook_duration", help: "How long tries to deliver a message took.")
        registry.describe(
            "relay_webhook_endpoints_disabled", help: "Times that this copy disabled an endpoint, by reason.")
        registry.describe("relay_trace_spans_exported", help: "Spans that the collector has taken.")
        registry.describe("relay_trace_spans_dropped", help: "Spans that were not sent, by reason.")
        registry.registerCollector {
            guard let (backlog, oldest) = try? await store.backlog(in: .all),
                let notifications = try? await store.notificationBacklog(in: .all),
                let webhooks = try? await store.webhookBacklog(in: .all),
                let parked = try? await store.parkedItems(in: .all),
                let problems = try? await store.count(AccessProblem.quick, in: .all)
            else { return [] }
            func gauge(_ name: String, _ help: String, _ value: Double) -> MetricSample {
                MetricSample(name: name, help: help, value: value)
            }
            return [
                gauge(
                    "relay_oldest_pending_seconds", "Age of the oldest validation that no worker has settled.",
                    oldest?.seconds ?? 0),
                gauge(
                    "relay_oldest_forwarding_seconds", "Age of the oldest purchase that Cleeng has not taken.",
                    backlog.oldestForwarding?.seconds ?? 0),
                gauge("relay_backlog_forwarding", "Purchases that Cleeng has not taken.", Double(backlog.forwarding)),
                gauge("relay_backlog_watching", "Purchases whose access is waited for.", Double(backlog.watching)),
                gauge("relay_parked", "Parked pursuits that wait for an operator.", Double(backlog.parked)),
                gauge(
                    "relay_oldest_parked_seconds", "For how long the first of those parked has been so.",
                    backlog.oldestParked?.seconds ?? 0),
                gauge("relay_backlog_overdue", "Pursuits due that no worker has taken up.", Double(backlog.overdue)),
                gauge(
                    "relay_backlog_notifications", "Notifications that Cleeng has not taken.",
                    Double(notifications.waiting)),
                gauge(
                    "relay_notifications_refused", "Notifications that Cleeng refuses for what is in them.",
                    Double(notifications.refused)),
                gauge(
                    "relay_oldest_notification_seconds", "Age of the oldest notification that Cleeng has not taken.",
                    notifications.oldest?.seconds ?? 0),
                gauge(
                    "relay_backlog_webhooks", "Messages that wait to be delivered to endpoints.",
                    Double(webhooks.waiting)),
                gauge(
                    "relay_backlog_webhooks_retrying", "Of those, messages that have been tried already.",
                    Double(webhooks.retrying)),
                gauge(
                    "relay_oldest_webhook_seconds", "Age of the oldest message that waits to be delivered.",
                    webhooks.oldest?.seconds ?? 0),
                gauge("relay_webhook_endpoints", "Webhook endpoints.", Double(webhooks.endpoints)),
                gauge(
                    "relay_webhook_endpoints_failing", "Of those that are not disabled, how many took nothing lately.",
                    Double(webhooks.failing)),
                gauge("relay_webhook_endpoints_off", "Webhook endpoints that are disabled.", Double(webhooks.disabled)),
                gauge("relay_backlog_outbox", "Customers whose publisher has not been told.", Double(backlog.outbox)),
                gauge(
                    "relay_oldest_parked_item_seconds",
                    "For how long the first event, message, notification or subscription has been parked.",
                    parked.oldest?.seconds ?? 0),
            ]
                + WorkQueue.allCases.map { queue in
                    MetricSample(
                        name: "relay_parked_items",
                        help: "Events, messages, notifications and subscriptions that are parked, by queue.",
                        labels: [("queue", queue.rawValue)], value: Double(parked[queue]))
                }
                + problems.map { accessSample($0.key, $0.value) }
        }
    }

    /// What the catalogue does not sell as it was granted is counted by workers, every few minutes.
    static func register(in registry: PrometheusRegistry, catalogue: CatalogueCheck) {
        registry.registerCollector { catalogue.latest.map { [accessSample(.mismatch, $0)] } ?? [] }
    }

    private static func accessSample(_ problem: AccessProblem, _ count: Int) -> MetricSample {
        MetricSample(
            name: "relay_access_problems", help: "Subscriptions whose granted access may be wrong, by problem.",
            labels: [("problem", problem.name)], value: Double(count))
    }
}
