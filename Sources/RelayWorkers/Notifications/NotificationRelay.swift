public import Cleeng
import Foundation
public import Logging
import Metrics
import NIOConcurrencyHelpers
import RelayCore
public import RelayStore
public import ServiceLifecycle
import Tracing

/// Passes what the App Store told on to Cleeng: each as it came, as often as it takes, and of one subscription in order. One for each
/// account at Cleeng.
///
/// Nothing is given up while it is kept: one that Cleeng refuses for what is in it lets the others pass and is tried again every
/// hour, for ops to see, until its week is dropped.
public struct NotificationRelay: Service {
    private let store: RelayStore
    private let client: NotificationClient
    private let scope: PublisherScope
    private let retries: RetrySchedule
    private let lease: Duration
    private let wakeup: Wakeup
    private let loop: WorkLoop
    private let logger: Logger
    private let suspects = SuspectGate()
    private let state: NIOLockedValueBox<State>

    private struct State {
        var breaker: CircuitBreaker
        var running: [NotificationID: Task<Void, Never>] = [:]
    }

    private static let maxConcurrent = 8
    /// After the claim. What is begun by then ends within the lease.
    private static let startAtMost = Duration.seconds(5)
    private static let refusedPause = Duration.seconds(3_600)

    /// - Parameters:
    ///   - scope: whose notifications go there.
    ///   - lease: longer than a call may take.
    ///   - wakeup: rung when there is something to be passed on.
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
        self.wakeup = wakeup
        self.logger = logger
        self.retries = retries
        loop = WorkLoop(
            name: "notifications", wakeup: wakeup, idleTick: idleTick, logger: logger,
            complaint: "no notification can be taken up")
        state = NIOLockedValueBox(State(breaker: CircuitBreaker(since: Timestamp(microseconds: 0))))
    }

    public var isOpen: Bool { state.withLockedValue { $0.breaker.state == .closed } }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await loop.run(runOnce) }
        let running = state.withLockedValue { Array($0.running.values) }
        for task in running { task.cancel() }
        for task in running { await task.value }
    }

    /// Takes up what is due.
    ///
    /// - Returns: whether there may be more at once.
    func runOnce() async throws -> Bool {
        let (admission, room) = turn()
        guard let admission else { return false }
        let (claimed, admitted): ([ClaimedNotification], [ClaimedNotification])
        let claimedAt = ContinuousClock.now
        do {
            claimed = try await store.claimNotifications(of: scope, limit: room, lease: lease)
            admitted = try await suspects.admit(claimed, store)
        } catch {
            end(admission, nil)
            throw error
        }
        if admitted.isEmpty { end(admission, nil) }
        for one in admitted {
            // The lock is held until the task is known, so that it cannot end before.
            state.withLockedValue { state in
                state.running[one.id] = Task {
                    await traced(
                        "pass on", one.trace,
                        ["relay.notification_id": "\(one.id)", "relay.try": .int64(Int64(one.attempts))]
                    ) {
                        await deliver(one, admission, claimedAt: claimedAt)
                    }
                    suspects.leave(one)
                    self.state.withLockedValue { $0.running[one.id] = nil }
                    // The next of its subscription may go now.
                    wakeup.ring()
                }
            }
        }
        return claimed.count == room && !admission.isProbe
    }

    /// The right to send, and how many at once.
    private func turn() -> (CircuitBreaker.Admission?, Int) {
        let (now, jitter) = (self.now, Double.random(in: 0..<1))
        return state.withLockedValue { state in
            let room = Self.maxConcurrent - state.running.count
            guard room > 0 else { return (nil, 0) }
            if let admission = state.breaker.admission() { return (admission, room) }
            return (state.breaker.probe(at: now, jitter: jitter), 1)
        }
    }

    private func deliver(
        _ claimed: ClaimedNotification, _ admission: CircuitBreaker.Admission, claimedAt: ContinuousClock.Instant
    ) async {
        do {
            // A process that stood still does not know that its time is over, and that a later one may have gone.
            guard claimedAt.duration(to: .now) < Self.startAtMost else {
                end(admission, nil)
                return try await Task { try await store.giveBack([claimed.row]) }.value
            }
            guard let body = claimed.body?.value else {
                logger.error("a notification went before it could be passed on: it is no longer kept")
                end(admission, nil)
                return try await store.record(.gone, of: claimed)
            }
            let answer = await client.deliver(body)
            Counter(
                label: "relay_notifications_sent", dimensions: [("verdict", answer.verdict.shortDescription)]
            ).increment()
            guard !Task.isCancelled || answer.verdict == .delivered else {
                end(admission, nil)
                // The task's own cancellation would cancel the statement.
                return try await Task { try await store.giveBack([claimed.row]) }.value
            }
            end(admission, CallResult(answer, subject: claimed.lane.hashValue))
            let outcome = outcome(of: answer, attempts: claimed.attempts)
            try await Task { try await store.record(outcome, of: claimed) }.value
        } catch {
            // Cleeng takes it twice.
            logger.warning("what became of a notification could not be written", metadata: ["error": "\(error)"])
            await store.interrupted([claimed.row], by: error)
        }
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

    private func end(_ admission: CircuitBreaker.Admission, _ result: CallResult?) {
        let (now, jitter) = (self.now, Double.random(in: 0..<1))
        let (before, after) = state.withLockedValue { state in
            let before = state.breaker
            state.breaker.ended(admission, result, at: now, jitter: jitter)
            return (before, state.breaker)
        }
        switch (before.state == .closed, after.state == .closed) {
        case (true, false):
            logger.warning(
                "Cleeng does not take notifications: they are kept, and passed on when it does",
                metadata: ["error": "\(after.health.lastError ?? "")"])
        case (false, true): logger.notice("Cleeng takes notifications again")
        default: break
        }
    }

    private static let start = ContinuousClock.now
    /// By this process's monotonic clock.
    private var now: Timestamp { Timestamp(microseconds: (ContinuousClock.now - Self.start).microseconds) }
}

extension CallResult {
    fileprivate init(_ answer: DeliveryAnswer, subject: Int) {
        switch answer.verdict {
        case .delivered, .refused: self.init(.success, subject: subject)
        case .misconfigured:
            self.init(.misconfigured("HTTP \(answer.status ?? 0)"), subject: subject)
        case .tryAgain(let trouble, let pause):
            let concernsAll = answer.status == 429 || answer.status == 503
            self.init(.failure(trouble.shortDescription), subject: subject, retryAfter: concernsAll ? pause : nil)
        }
    }
}
