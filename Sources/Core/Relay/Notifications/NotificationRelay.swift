public import Cleeng
public import Logging
import Metrics
public import RelayCore
public import ServiceLifecycle
import Tracing

/// Relays the App Store's notifications to Cleeng: unchanged, with retries, and in order for each subscription. Each
/// account at Cleeng has its own relay.
///
/// A stored notification is never given up. If Cleeng rejects its content, later notifications pass it. It is retried
/// every hour until its partition is dropped, so operators can see it.
public struct NotificationRelay: Service {
    let store: RelayStore
    let loop: WorkLoop
    let policy = LeasePolicy(
        trouble: "the outcome of a notification could not be written",
        // The next notification of the subscription may be sent now.
        wakesFrom: 1)
    /// Work that starts within this time after the claim ends within the lease.
    let leases = Leases<ClaimedRow.Key, OnlyRoute>(.fixed(startWithin: .seconds(5)))
    private let client: NotificationClient
    private let scope: PublisherScope
    private let retries: RetrySchedule
    private let lease: Duration
    private let logger: Logger
    private let breakers: Breakers<OnlyRoute>

    private static let maxConcurrent = 8
    private static let refusedPause = Duration.seconds(3_600)

    /// - Parameters:
    ///   - scope: publishers whose notifications go to this account.
    ///   - lease: longer than a call may take.
    ///   - wakeup: signalled when there are notifications to relay.
    public init(
        store: RelayStore, client: NotificationClient, scope: PublisherScope = .common, lease: Duration,
        wakeup: Wakeup, logger: Logger,
        retries: RetrySchedule = RetrySchedule(first: .seconds(1), longest: .seconds(900)),
        idleTick: Duration = .seconds(1)
    ) {
        self.store = store
        self.client = client
        self.scope = scope
        self.lease = lease
        self.logger = logger
        self.retries = retries
        loop = WorkLoop(
            name: "notifications", wakeup: wakeup, idleTick: { idleTick }, logger: logger,
            complaint: "no notification can be claimed")
        breakers = Breakers { _, change in
            change.log(
                to: logger, opened: "Cleeng does not take notifications: they are kept, and passed on when it does",
                closed: "Cleeng takes notifications again"
            ) { event in
                event == .opened ? ["error": "\(change.after.health.lastError ?? "")"] : [:]
            }
        }
    }

    public func run() async throws { await LeaseEngine(queue: self).run() }

    private func passOn(_ claimed: ClaimedNotification, _ permit: Breakers<OnlyRoute>.Permit) async throws {
        // After a suspension, the process must check its lease: another copy may have sent a later notification.
        guard leases.with({ $0.covers(claimed.lease) }) else { throw CancellationError() }
        guard let body = claimed.body?.value else {
            logger.error("a notification went before it could be passed on: it is no longer kept")
            return try await store.notifications.record(.gone, of: claimed)
        }
        let answer = await client.deliver(body)
        Counter(
            label: "relay_notifications_sent", dimensions: [("verdict", answer.verdict.shortDescription)]
        ).increment()
        guard !Task.isCancelled || answer.verdict == .delivered else { throw CancellationError() }
        breakers.end(permit, CallResult(answer, subject: claimed.lane.hashValue))
        let outcome = outcome(of: answer, attempts: claimed.attempts)
        // In a task of its own: cancellation of the current task would cancel the statement. If nothing can be written,
        // Cleeng receives it twice.
        try await Task { try await store.notifications.record(outcome, of: claimed) }.value
    }

    private func outcome(of answer: DeliveryAnswer, attempts: Int) -> RelayOutcome {
        var retryAfter: Duration?
        switch answer.verdict {
        case .delivered: return .delivered
        case .refused:
            logger.error(
                "Cleeng refuses a notification: it lets the next ones pass",
                metadata: ["upstream_status": .stringConvertible(answer.status ?? 0)])
            return .failed("refused: HTTP \(answer.status ?? 0)", next: Self.refusedPause, standsAside: true)
        case .misconfigured: break
        case .tryAgain(_, let pause): retryAfter = pause
        }
        let delay = retries.delay(failures: attempts, retryAfter: retryAfter, jitter: .random(in: 0..<1))
        let status = answer.status.map { ": HTTP \($0)" } ?? ""
        return .failed("\(answer.verdict.shortDescription)\(status)", next: delay, standsAside: false)
    }
}

extension NotificationRelay: StoredQueue {
    func allowances() -> [OnlyRoute: ClaimAllowance<Breakers<OnlyRoute>.Permit>] {
        let available = Self.maxConcurrent - leases.with { $0.running }
        return breakers.allowance(in: .all) { _ in available }.map { [.all: $0] } ?? [:]
    }

    func claim(_ allowances: [OnlyRoute: ClaimAllowance<Breakers<OnlyRoute>.Permit>]) async throws
        -> [ClaimedNotification]
    {
        try await store.notifications.claim(of: scope, limit: allowances[.all]?.limit ?? 0, lease: lease)
    }

    func work(on claimed: [ClaimedNotification], _ permit: Breakers<OnlyRoute>.Permit?) async throws {
        guard let permit else { throw CancellationError() }
        for one in claimed {
            try await traced(
                "pass on", one.trace,
                ["relay.notification_id": "\(one.id)", "relay.try": .int64(Int64(one.attempts))]
            ) {
                try await passOn(one, permit)
            }
        }
    }

    func release(_ permit: Breakers<OnlyRoute>.Permit) { breakers.end(permit) }
}

extension CallResult {
    fileprivate init(_ answer: DeliveryAnswer, subject: Int) {
        switch answer.verdict {
        case .delivered, .refused: self.init(.success, subject: subject)
        case .misconfigured:
            self.init(.misconfigured("HTTP \(answer.status ?? 0)"), subject: subject)
        case .tryAgain(let trouble, let pause):
            let concernsAll = answer.status == 429 || answer.status == 503
            self.init(.failure(trouble.rawValue), subject: subject, retryAfter: concernsAll ? pause : nil)
        }
    }
}
