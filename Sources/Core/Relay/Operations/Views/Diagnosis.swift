import RelayCore

/// Current problems, worst first, in sentences for the engineer on call: what each means for customers, and what to do.
public struct Diagnosis: Sendable, Equatable {
    public enum Severity: String, Sendable, Comparable, CaseIterable {
        case ok, warning, critical

        public static func < (one: Self, other: Self) -> Bool {
            let order = allCases
            return (order.firstIndex(of: one) ?? 0) < (order.firstIndex(of: other) ?? 0)
        }
    }

    /// List that shows the rows of a finding.
    public enum Place: String, Sendable {
        case waiting, parked, webhooks, endpoints, notifications
        case parkedEvents, parkedWebhooks, parkedNotifications, parkedSubscriptions
        case unwatchedAccess, overdueAccess, topics, consumption
    }

    public struct Finding: Sendable, Equatable {
        public var severity: Severity
        /// The problem and the customers or rows that it affects.
        public var what: String
        /// What the engineer should do.
        public var advice: String
        public var place: Place?
    }

    public private(set) var findings: [Finding] = []

    public var severity: Severity { findings.map(\.severity).max() ?? .ok }

    /// One sentence that says whether customers are losing purchases.
    public var headline: String {
        switch severity {
        case .critical: "Customers who pay get no access now. Nothing is lost: what was accepted is kept and sent."
        case .warning: "Purchases go through. Something needs a look."
        case .ok: "Purchases go through."
        }
    }

    /// The problem that keeps customers from access now, for the page of one customer. Nil if there is none.
    public var alert: String? { findings.first { $0.severity == .critical }?.what }

    public init(_ summary: OpsSummary) {
        addSchema(summary)
        addUpstream(summary)
        addQueue(summary)
        addTelling(summary)
        addParked(summary.parkedItems)
        addAccess(summary.accessProblems)
        // Findings of the same severity keep the order in which they were found.
        findings = Severity.allCases.reversed().flatMap { severity in findings.filter { $0.severity == severity } }
    }

    private mutating func add(_ severity: Severity, _ what: String, advice: String, _ place: Place? = nil) {
        findings.append(Finding(severity: severity, what: what, advice: advice, place: place))
    }

    // MARK: The schema

    private mutating func addSchema(_ summary: OpsSummary) {
        guard !summary.missingTables.isEmpty else { return }
        let names = summary.missingTables.joined(separator: ", ")
        let what = summary.missingTables.count == 1 ? "the table \(names) is" : "the tables \(names) are"
        add(
            .critical, "The schema is damaged: \(what) missing. What needs it fails, and purchases time out.",
            advice: "Restore what is missing from a backup. receipt-relay migrate does not make it again.")
    }

    // MARK: Cleeng

    private mutating func addUpstream(_ summary: OpsSummary) {
        let waiting = Self.waiting(summary)
        guard let report = summary.upstream else {
            let lastSeen = summary.workerSeen.map { "The last sign of life of one is \($0.spoken) old. " } ?? ""
            return add(
                .critical, "No worker is running: nothing reaches Cleeng. \(lastSeen)\(waiting)",
                advice:
                    "Start receipt-relay serve --role worker (or all), or look why it ended: its last log line says so.",
                .waiting)
        }
        let since = "since \(report.since.rfc3339)"
        let error = report.lastError.map { ": \($0)" } ?? ""
        switch report.state {
        case .ok: break
        case .degraded where report.othersSucceed:
            add(
                .warning, "Some calls to Cleeng fail \(since)\(error). \(waiting)",
                advice: "They are tried again by themselves. If it continues, ask Cleeng.", .waiting)
        case .degraded:
            // A success often follows a failure within a second.
            let isBrief = summary.backlog.oldestForwarding.map { $0 < .seconds(10) } ?? true
            add(
                isBrief ? .warning : .critical, "No call to Cleeng has succeeded \(since)\(error). \(waiting)",
                advice:
                    "Calls are tried again by themselves. If it continues, look at Cleeng's status page and at the network.",
                .waiting)
        case .down:
            add(
                .critical, "Cleeng cannot be reached \(since)\(error). \(waiting)",
                advice:
                    "Look at Cleeng's status page and at the network. It is probed all the time; what waits is sent by itself when it answers.",
                .waiting)
        case .misconfigured:
            add(
                .critical,
                "Cleeng refuses our token or address \(since)\(error). Nobody is rejected for it. \(waiting)",
                advice:
                    "Mend RELAY_CLEENG_PUBLISHER_TOKEN, or where the error speaks of an address RELAY_CLEENG_PAYMENT_URL or RELAY_CLEENG_API_URL, and restart the workers: what waits is sent by itself, oldest first. A retry before that changes nothing.",
                .waiting)
        }
    }

    private static func waiting(_ summary: OpsSummary) -> String {
        let count = summary.backlog.forwarding
        guard count > 0 else { return "No purchase waits." }
        let age = summary.backlog.oldestForwarding.map { ", the oldest for \($0.spoken)" } ?? ""
        return "\(counted(count, "purchase waits", "purchases wait"))\(age)."
    }

    private static func counted(_ count: Int, _ one: String, _ several: String) -> String {
        "\(count) \(count == 1 ? one : several)"
    }

    // MARK: The queue

    private static let patience = Duration.seconds(60)

    private mutating func addQueue(_ summary: OpsSummary) {
        let (backlog, waiting) = (summary.backlog, Self.waiting(summary))
        // If no worker runs, or Cleeng does not answer, that finding already reports the waiting purchases.
        let isExplained = summary.upstream.map { $0.state == .down || $0.state == .misconfigured } ?? true
        if !isExplained, let oldest = backlog.oldestForwarding, oldest >= Self.patience {
            if backlog.overdue > 0, summary.upstream?.state == .ok {
                add(
                    .critical,
                    "\(Self.counted(backlog.overdue, "purchase is", "purchases are")) due and nobody takes them up, though Cleeng is well. \(waiting)",
                    advice:
                        "Workers are missing or too few: look at their logs and start more of them. Where a publisher has an account of its own, a worker needs RELAY_PUBLISHERS_FILE.",
                    .waiting)
            } else {
                add(
                    .critical, "Cleeng has not taken a purchase for \(oldest.spoken). \(waiting)",
                    advice:
                        "Read its timeline: receipt-relay validations show ID has what each call to Cleeng came to.",
                    .waiting)
            }
        }
        if backlog.parked > 0 {
            let age = backlog.oldestParked.map { ", the first for \($0.spoken)" } ?? ""
            add(
                .warning,
                "\(Self.counted(backlog.parked, "purchase is", "purchases are")) parked\(age): each may be a customer who paid and got nothing.",
                advice: "Read each one's reason, mend what it names, and retry it.", .parked)
        }
    }

    // MARK: Parked, purchases apart

    private mutating func addParked(_ items: ParkedItems) {
        for queue in WorkQueue.allCases where items[queue] > 0 {
            let (one, several, place): (String, String, Place) =
                switch queue {
                case .events: ("event of Cleeng's", "events of Cleeng's", .parkedEvents)
                case .webhooks: ("message to a webhook endpoint", "messages to webhook endpoints", .parkedWebhooks)
                case .notifications:
                    ("notification of the App Store's", "notifications of the App Store's", .parkedNotifications)
                case .subscriptions: ("subscription", "subscriptions", .parkedSubscriptions)
                case .questions: ("question to a store", "questions to stores", .parkedSubscriptions)
                case .consumption:
                    ("request of Apple's about a refund", "requests of Apple's about refunds", .consumption)
                }
            let what = Self.counted(
                items[queue], "\(one) is parked: it cannot be processed, or its workers ended",
                "\(several) are parked: they cannot be processed, or their workers ended")
            add(
                .warning, "\(what).",
                advice: "Read each one's reason, mend what it names, and replay it.", place)
        }
    }

    // MARK: Access that is granted

    private mutating func addAccess(_ problems: [AccessProblem: Int]) {
        if let count = problems[.overdue], count > 0 {
            add(
                .warning,
                Self.counted(
                    count,
                    "subscription is past its end and still granted: neither the store nor Cleeng has said whether it renews.",
                    "subscriptions are past their end and still granted: neither the store nor Cleeng has said whether they go on."
                ),
                advice:
                    "Read the trouble of each. A store or Cleeng that could not be asked is asked again within ten minutes. If there is no trouble, no worker runs.",
                .overdueAccess)
        }
        if let count = problems[.unwatched], count > 0 {
            add(
                .warning,
                Self.counted(
                    count, "subscription is granted and nobody looks at it again: it may never end.",
                    "subscriptions are granted and nobody looks at them again: they may never end."),
                advice: "Mend what each one's trouble names, and replay it.", .unwatchedAccess)
        }
    }

    // MARK: Webhooks

    private mutating func addTelling(_ summary: OpsSummary) {
        let (webhooks, notifications) = (summary.webhooks, summary.notifications)
        if webhooks.disabled > 0 {
            add(
                .warning,
                Self.counted(
                    webhooks.disabled, "webhook endpoint is disabled: nothing is sent to it.",
                    "webhook endpoints are disabled: nothing is sent to them."),
                advice:
                    "Have the publisher mend it, then run receipt-relay webhooks enable ID, and webhooks replay --since.",
                .endpoints)
        }
        if webhooks.failing > 0 {
            let age = webhooks.oldest.map { ", the oldest message waits for \($0.spoken)" } ?? ""
            add(
                .warning,
                "\(Self.counted(webhooks.failing, "webhook endpoint fails", "webhook endpoints fail"))\(age).",
                advice:
                    "A message is tried for about two days, as RELAY_WEBHOOK_RETRY_SECONDS says, and then given up. Tell the publisher.",
                .webhooks)
        }
        if notifications.refused > 0 {
            add(
                .warning, "Cleeng refuses \(notifications.refused) of the App Store's notifications.",
                advice: "Read its answer, then replay them.", .notifications)
        }
        if let oldest = notifications.oldest, oldest > .seconds(3_600) {
            add(
                .warning,
                "Cleeng has not taken notifications for \(oldest.spoken): renewals and refunds reach it late.",
                advice: "Look at RELAY_CLEENG_NOTIFICATION_URL and at Cleeng.", .notifications)
        }
        for store in summary.stores { add(store) }
        let refunds = summary.consumption
        if refunds.endangered > 0 {
            add(
                .warning,
                "\(Self.counted(refunds.endangered, "request of Apple's about a refund has", "requests of Apple's about refunds have")) less than two hours left, and \(refunds.endangered == 1 ? "its answer has" : "their answers have") not got through\(refunds.trouble.map { ": \($0)" } ?? "").",
                advice:
                    "Look at RELAY_APPLE_API_KEY and at the network. Without an answer Apple decides about the refund by itself.",
                .consumption)
        }
    }

    private mutating func add(_ health: StoreHealth) {
        let store = StorePlatform(rawValue: health.store)?.title ?? health.store
        if let oldest = health.oldestWaiting, oldest > .seconds(900) {
            add(
                .warning,
                "For \(oldest.spoken) \(Self.counted(health.waiting, "purchase waits", "purchases wait")) for the relay to ask \(store): a refund there still gives access, and a grant is not acknowledged.",
                advice: "Read the last error of each, and look at the store's credentials.", .notifications)
        }
        for topic in health.topics where topic.state != .confirmed {
            let id = topic.notification.map { "\($0)" } ?? "ID"
            add(
                .warning,
                topic.state == .ended
                    ? "The subscription to \(topic.topic) has ended: \(store) sends no notifications by it."
                    : "Nobody has confirmed the subscription to \(topic.topic): \(store) sends no notifications by it yet.",
                advice: "`receipt-relay notifications confirm \(id) --reason R` confirms it. Or subscribe again.",
                .topics)
        }
        if let trouble = health.sweepTrouble {
            add(
                .warning, "The relay could not ask \(store) which purchases were taken back: \(trouble).",
                advice:
                    "A refund whose notification was lost is not noticed meanwhile. Look at the store's credentials.")
        }
    }
}

extension Duration {
    /// Text for people: `42 s`, `7 min`, `3 h 20 min`, `2 d 4 h`.
    public var spoken: String {
        let seconds = max(components.seconds, 0)
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
        }
    }
}

extension Diagnosis.Finding: Viewed {
    public static let fields: [Field<Diagnosis.Finding>] = [
        Field("severity") { $0.severity.rawValue }, Field("what") { $0.what }, Field("advice") { $0.advice },
        Field("place") { $0.place?.rawValue },
    ]
}
