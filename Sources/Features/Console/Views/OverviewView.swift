import Formats
import Hummingbird
import Relay
import RelayCore

/// The first page: problems, the longest waiting purchases and the load.
enum OverviewView {
    private static let hours = 6
    private static let step = Duration.seconds(300)
    private static let oldest = 8

    static func show(_ visit: ConsoleVisit) async throws -> Response {
        let store = visit.store
        async let summary = visit.summary()
        async let waiting = store.ops.validations(
            matching: ValidationFilter(selection: .waiting, limit: oldest), in: visit.scope)
        async let activity = store.activity.list(
            step: step, steps: hours * 3_600 / Int(step.seconds), in: visit.scope)
        async let copies = store.instances.running(in: visit.scope)
        let diagnosis = Diagnosis(try await summary)
        let now = store.memory.clock.now
        return visit.response(
            OverviewPage(
                visit.frame("Overview", at: .overview, live: 5), severity: diagnosis.severity.rawValue,
                headline: diagnosis.headline, findings: diagnosis.findings.map(finding),
                oldest: ValidationViews.table(
                    try await waiting.items, now: now, empty: "Nothing waits: Cleeng has taken every purchase."),
                tiles: tiles(try await summary), hours: hours, charts: try await activity.map(charts) ?? [],
                stores: stores(try await summary),
                copies: table(try await copies, visit.scope)))
    }

    private static func finding(_ finding: Diagnosis.Finding) -> OverviewPage.Finding {
        let href: String? =
            switch finding.place {
            case .waiting: "/console/waiting"
            case .parked: Section.parked.path
            case .webhooks: Section.webhooks.path + "?state=waiting"
            case .endpoints: "/console/endpoints"
            case .notifications: Section.notifications.path + "?status=pending"
            case .topics: Section.notifications.path
            case .consumption: "/console/consumption"
            case .parkedEvents: Section.events.path + "?status=parked"
            case .parkedWebhooks: Section.webhooks.path + "?state=parked"
            case .parkedNotifications: Section.notifications.path + "?status=parked"
            case .parkedSubscriptions: Section.subscriptions.path + "?parked=true"
            case .unwatchedAccess: Section.subscriptions.path + "?problem=unwatched"
            case .overdueAccess: Section.subscriptions.path + "?problem=overdue"
            case nil: nil
            }
        return OverviewPage.Finding(
            severity: finding.severity.rawValue, what: finding.what, advice: finding.advice, href: href)
    }

    private static func tiles(_ summary: OpsSummary) -> [OverviewPage.Tile] {
        let (backlog, webhooks, notifications) = (summary.backlog, summary.webhooks, summary.notifications)
        let upstream = summary.upstream
        let state = upstream?.state.rawValue ?? "no worker"
        let tone: Tone = upstream?.state == .ok ? .ok : upstream?.state == .degraded ? .warning : .critical
        func age(_ age: Duration?) -> String? { age.map { "oldest \($0.spoken)" } }
        return [
            .init(
                "Cleeng", state,
                note: upstream.map { "since \(ConsoleText.time($0.since))" }
                    ?? summary.workerSeen.map { "last seen \($0.spoken) ago" }, tone: tone),
            .init(
                "Not taken by Cleeng", "\(backlog.forwarding)", note: age(backlog.oldestForwarding),
                tone: (backlog.oldestForwarding ?? .zero) > .seconds(60) ? .critical : .quiet, href: "/console/waiting"),
            .init("Sent, no access yet", "\(backlog.watching)"),
            .init("Oldest pending", summary.oldestPending?.spoken ?? "none"),
            .init("Overdue", "\(backlog.overdue)", tone: backlog.overdue > 0 ? .warning : .quiet),
            .init(
                "Parked", "\(backlog.parked)", note: age(backlog.oldestParked),
                tone: backlog.parked > 0 ? .warning : .quiet, href: Section.parked.path),
            .init("Changes to send", "\(backlog.outbox)"),
            .init(
                "Webhooks waiting", "\(webhooks.waiting)", note: age(webhooks.oldest),
                tone: webhooks.failing + webhooks.disabled > 0 ? .warning : .quiet,
                href: Section.webhooks.path + "?state=waiting"),
            .init(
                "Notifications waiting", "\(notifications.waiting)", note: age(notifications.oldest),
                tone: notifications.refused > 0 ? .warning : .quiet,
                href: Section.notifications.path + "?status=pending"),
        ]
    }

    private static func charts(_ activity: ActivitySeries) -> [BarChart] {
        let steps = hours * 3_600 / Int(step.seconds)
        let empty = Array(repeating: 0, count: steps)
        func chart(_ title: String, _ kind: ActivityKind, _ tone: Tone) -> BarChart {
            BarChart(title, activity.counts[kind] ?? empty, tone: tone) { place in
                ConsoleText.minute(activity.start + .seconds(rounded: activity.step.seconds * Double(place)))
            }
        }
        return [
            chart("Purchases", .accepted, .link), chart("Granted", .granted, .ok),
            chart("Timed out", .timedOut, .warning),
            chart("Rejected", .rejected, .critical), chart("Calls answered by Cleeng", .upstreamAnswered, .ok),
            chart("Calls to Cleeng that failed", .upstreamFailed, .critical),
            chart("Webhooks delivered", .webhooksDelivered, .ok), chart("Notifications", .notifications, .link),
        ]
    }

    private static func table(_ copies: [RunningCopy], _ scope: OpsScope) -> Table {
        Table(
            copies, RunningCopy.columns("id", "role", "startedAt", "lastSeenSeconds", "upstream", "lastError"),
            labels: ["upstream": "Cleeng as it sees it"],
            empty: scope.isAll
                ? "No copy has reported within ten minutes."
                : "Charts and copies are of all publishers, and so are shown to keys of all publishers."
        ) { name, copy, text in
            switch name {
            case "id": .init(text, isCode: true)
            case "upstream": .init(text, tone: text == nil ? nil : tone(copy))
            default: .init(text)
            }
        }
    }

    private static func stores(_ summary: OpsSummary) -> Table {
        Table(
            summary.stores,
            StoreHealth.columns(
                "store", "lastNotificationAt", "waiting", "oldestWaitingSeconds", "parked", "sweptAt", "sweepError",
                "topics"),
            empty: "No store has sent a notification yet."
        ) { name, store, text in
            let isTrouble =
                switch name {
                case "sweepError": text != nil
                case "parked": store.parked > 0
                case "topics": store.topics.contains { $0.state != .confirmed }
                default: false
                }
            return .init(text, tone: isTrouble ? .warning : nil)
        }
    }

    private static func tone(_ copy: RunningCopy) -> Tone {
        guard !copy.isSilent else { return .critical }
        guard !copy.isOutdated else { return .quiet }
        return switch copy.report.state {
        case .ok: .ok
        case .degraded: .warning
        case .down, .misconfigured: .critical
        }
    }
}
