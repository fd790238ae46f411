import Formats
import Relay
import RelayCore
import Telemetry

/// Metrics that are read from the database on each scrape, and the help texts of the workers' metrics.
enum RelayMetrics {
    private static let meanings = [
        "relay_worker_round_duration": "A worker's looks for work, idle ones too, with what was done at once.",
        "relay_worker_failures": "A worker's looks that came to nothing by an error.",
        "relay_settlements": "Validations settled, by status.",
        "relay_time_to_settle": "From acceptance to the settlement, by status.",
        "relay_leases_lost": "Leases that could not be renewed in time.",
        "relay_writes_fenced_off": "Writes that changed nothing because the lease had passed on.",
        "relay_pursuits_parked": "Pursuits parked for an operator.",
        "relay_items_parked": "Events, messages, notifications and subscriptions parked, by queue.",
        "relay_notifications_not_understood": "The App Store's notifications that were stored and not understood.",
        "relay_notifications_sent": "Tries to pass a notification on to Cleeng, by verdict.",
        "relay_subscriptions_looked_up": "Answers of Cleeng or the App Store about how a subscription stands.",
        "relay_live_reads": "Entitlement reads on demand, by result.",
        "relay_app_store_calls": "Calls to the App Store Server API, by what they came to.",
        "relay_apple_certificate_checks": "Certificates that Apple was asked about, by whether they are revoked.",
        "relay_missed_notifications": "Notifications that the App Store had not delivered and was asked for.",
        "relay_consumption_answers": "Answers to Apple's requests about refunds, by what they came to.",
        "relay_store_questions_asked": "Answers of stores about purchases, after a notification or a grant, by result.",
        "relay_purchases_acknowledged": "Acknowledgements that were sent to a store, by result.",
        "relay_voided_sweeps": "Sweeps of one app's voided purchases, by result.",
        "relay_voided_purchases": "Voided purchases that a sweep found, by result.",
        "relay_ledgers_failed": "Looks at a subscription that came to nothing for what is in its row.",
        "relay_grants_corrected": "Grants that had no owner's number, or nobody who looks again, and were given one.",
        "relay_webhook_tries": "Tries to deliver a message to an endpoint, by result.",
        "relay_webhook_deliveries": "Messages to endpoints that ended, by state.",
        "relay_webhook_duration": "How long tries to deliver a message took.",
        "relay_webhook_endpoints_disabled": "Times that this copy disabled an endpoint, by reason.",
        "relay_trace_spans_exported": "Spans that the collector has taken.",
        "relay_trace_spans_dropped": "Spans that were not sent, by reason.",
    ]

    static func register(in registry: PrometheusRegistry, store: RelayStore) {
        for (name, help) in meanings { registry.describe(name, help: help) }
        registry.describe(
            "relay_batch_size", help: "Elements that shared a statement.",
            buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500])
        registry.registerCollector {
            guard let (backlog, oldest) = try? await store.ops.backlog(in: .all),
                let notifications = try? await store.notifications.backlog(in: .all),
                let webhooks = try? await store.webhooks.backlog(in: .all),
                let parked = try? await store.queues.parked(in: .all),
                let problems = try? await store.ops.count(AccessProblem.quick, in: .all),
                let consumption = try? await store.consumption.backlog(in: .all),
                let stores = try? await store.questions.health(in: .all)
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
                gauge("relay_backlog_overdue", "Pursuits due that no worker has claimed.", Double(backlog.overdue)),
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
                gauge(
                    "relay_backlog_outbox", "Customers whose publisher has not been notified.", Double(backlog.outbox)),
                gauge(
                    "relay_backlog_consumption", "Apple's requests about refunds that are not answered.",
                    Double(consumption.waiting)),
                gauge(
                    "relay_oldest_consumption_seconds", "Age of the oldest of these.",
                    consumption.oldest?.seconds ?? 0),
                gauge(
                    "relay_consumption_endangered",
                    "Of these, those that are consented to and have less than two hours left.",
                    Double(consumption.endangered)),
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
                + stores.flatMap { samples($0, now: store.memory.clock.now) }
        }
    }

    private static func samples(_ health: StoreHealth, now: Timestamp?) -> [MetricSample] {
        func gauge(_ name: String, _ help: String, _ value: Double) -> MetricSample {
            MetricSample(name: name, help: help, labels: [("store", health.store)], value: value)
        }
        let swept = health.oldestSweep.flatMap { oldest in now.map { max($0 - oldest, .zero) } }
        return [
            gauge(
                "relay_backlog_questions", "Purchases about which a store is to be asked.", Double(health.waiting)),
            gauge(
                "relay_oldest_question_seconds", "For how long the first of these has waited.",
                health.oldestWaiting?.seconds ?? 0),
        ]
            + (swept.map {
                [
                    gauge(
                        "relay_sweep_age_seconds",
                        "Since a store was last asked, or first to be asked, which purchases were taken back.",
                        $0.seconds)
                ]
            } ?? [])
    }

    /// Registers the number of grants that do not match the catalogue. Workers count them every few minutes.
    static func register(in registry: PrometheusRegistry, catalogue: CatalogueCheck) {
        registry.registerCollector { catalogue.latest.map { [accessSample(.mismatch, $0)] } ?? [] }
    }

    /// Registers metrics of the certificates that this process has verified.
    static func register(in registry: PrometheusRegistry, revocation: RevocationWatch) {
        registry.registerGauge(
            "relay_apple_certificates_revoked",
            help: "Certificates behind purchases that Apple has revoked, of those that were looked up last."
        ) { Double(revocation.revoked) }
    }

    private static func accessSample(_ problem: AccessProblem, _ count: Int) -> MetricSample {
        MetricSample(
            name: "relay_access_problems", help: "Subscriptions whose granted access may be wrong, by problem.",
            labels: [("problem", problem.name)], value: Double(count))
    }
}

/// Metrics of one account's upstream: its health as this process sees it, and its waiting calls.
enum UpstreamMetrics {
    private static let meanings = [
        "relay_upstream_calls": "Calls to Cleeng, by route and what they came to.",
        "relay_upstream_call_duration": "How long calls to Cleeng took, by route.",
        "relay_upstream_wait": "How long calls to Cleeng waited for a place, by route.",
        "relay_upstream_breaker_opens": "Times that a route was shut but for probes.",
        "relay_upstream_probes": "Calls sent to see whether a route that is shut works again.",
        "relay_pursuits_held_back": "Pursuits claimed and released because their route was shut by then.",
    ]

    static func register(in registry: PrometheusRegistry, upstream: Upstream) {
        for (name, help) in meanings { registry.describe(name, help: help) }
        func gauge(
            _ name: String, _ help: String, _ labels: [(String, String)], _ value: @escaping @Sendable () -> Int
        ) {
            registry.registerGauge(name, help: help, labels: labels) { Double(value()) }
        }
        for state in InstanceReport.UpstreamState.allCases {
            gauge(
                "relay_upstream_state", "1 for the state that the upstream is in, as this process sees it.",
                upstream.accountLabel + [("state", state.rawValue)]
            ) { upstream.report()?.state ?? .ok == state ? 1 : 0 }
        }
        for route in UpstreamRoute.allCases {
            let labels = upstream.labels(route.rawValue)
            for state in CircuitBreaker.State.allCases {
                gauge(
                    "relay_upstream_breaker_state", "1 for the state of the route's breaker in this process.",
                    labels + [("state", state.rawValue)]
                ) { upstream.breakerState(route) == state ? 1 : 0 }
            }
            gauge("relay_upstream_calls_in_flight", "Calls to Cleeng that have a place.", labels) {
                upstream.load(of: route).inFlight
            }
            gauge("relay_upstream_calls_waiting", "Calls to Cleeng that wait for a place.", labels) {
                upstream.load(of: route).waiting
            }
        }
    }
}
