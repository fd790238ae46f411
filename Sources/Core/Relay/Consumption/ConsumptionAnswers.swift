import AppStoreServer
public import Logging
import Metrics
import RelayCore
public import ServiceLifecycle
import Tracing

/// Answers Apple's consumption requests, which follow a customer's refund request. Apple wants the answer within 12
/// hours, and only with the customer's consent. The publisher reports the consent; without it nothing is sent.
///
/// An answer is sent at least once: if a copy dies after the call, another copy sends it again, and Apple accepts the
/// repeat. A request ends once. While Apple is unreachable, it is retried until the deadline, with pauses of 15 minutes
/// at most.
public struct ConsumptionAnswers: Service {
    let store: RelayStore
    let loop: WorkLoop
    let policy = LeasePolicy(trouble: "a request about a refund could not be answered", wakesFrom: Self.maxConcurrent)
    let leases = Leases<ClaimedRow.Key, StoreEnvironment>(.fixed(startWithin: Self.startWithin))
    private let gate: AppStoreGate?
    private let retries = RetrySchedule(first: .seconds(2), longest: Self.longestPause)
    private let logger: Logger

    private static let maxConcurrent = 8
    private static let startWithin = Duration.seconds(45)
    private static let longestPause = Duration.seconds(900)
    /// Lease of a claim. It outlasts all work that starts in time.
    private let lease: Duration

    /// - Parameters:
    ///   - gate: nil: there is no key for the App Store Server API. Requests then wait for one until their deadlines.
    ///   - callTimeout: limit of one call.
    ///   - wakeup: signalled when a request is due.
    public init(store: RelayStore, gate: AppStoreGate?, callTimeout: Duration, wakeup: Wakeup, logger: Logger) {
        self.store = store
        lease = Self.startWithin + callTimeout + .seconds(15)
        self.gate = gate
        self.logger = logger
        loop = WorkLoop(
            name: "consumption", wakeup: wakeup, idleTick: { DueWatch.fallback }, logger: logger,
            complaint: "no request about a refund can be answered")
    }

    public func run() async throws { await LeaseEngine(queue: self).run() }

    private func answer(_ request: ClaimedConsumption) async throws {
        let purchase = try await store.consumption.purchase(of: request)
        var facts: ConsumptionFacts?
        if let purchase { facts = try await store.consumption.facts(of: purchase.customer) }
        guard let now = store.memory.clock.now else { throw CancellationError() }
        let left = request.deadline - now
        guard let purchase, let facts, let answer = ConsumptionAnswer(facts, purchase.delivery, renews: request.renews)
        else {
            guard left > .zero else {
                guard request.wasSent else { return try await end(request, .noConsent) }
                return try await end(
                    request, .expired, trouble: "the consent was taken back, after an answer that may have got through")
            }
            // A consent makes the request due. It is also retried, since the customer may become known, or change.
            return try await store.consumption.postpone(
                request, .awaitsConsent, by: Self.pause(Self.longestPause, left))
        }
        guard left > .zero else { return try await end(request, .expired, trouble: "the deadline has passed") }
        guard let gate else { return try await wait(request, left, "there is no key for the App Store Server API") }
        guard let environment = AppStoreServerClient.Environment(rawValue: request.name.environment.text) else {
            return try await end(request, .expired, trouble: "the App Store has no such environment")
        }
        if let pause = gate.remainingPause(environment, for: request.bundleID) {
            // Nothing was sent, so the request keeps its attempts and its last error.
            return try await store.queues.giveBack([request.row], after: Self.pause(pause, left))
        }
        // After a suspension, the process must check whether its lease has expired.
        guard leases.with({ $0.covers(request.lease) }) else { throw CancellationError() }
        guard try await store.consumption.note(answer: answer.json, to: request) else {
            return try await store.consumption.postpone(request, .waiting, by: .zero)
        }
        let reply = await gate.ask("consumption", in: environment, for: request.bundleID) {
            await gate.client.sendConsumption(
                answer, about: request.transactionID, in: environment, bundleID: request.bundleID)
        }
        if Task.isCancelled, case .tryAgain = reply { throw CancellationError() }
        // In a task of its own: cancellation of the current task would cancel the statements. If nothing can be
        // written, the answer is sent twice.
        try await Task { try await take(reply, to: request, left) }.value
    }

    private func take(
        _ reply: AppStoreAnswer<ConsumptionReply>, to request: ClaimedConsumption, _ left: Duration
    ) async throws {
        switch reply {
        case .value(.taken): try await end(request, .answered)
        case .value(.refused(let status, let code)):
            let word = "HTTP \(status), code \(code)"
            logger.error(
                "the app store does not take an answer about a refund",
                metadata: ["notification": "\(request.id)", "error": "\(word)"])
            try await end(request, .refused, trouble: word)
        case .unknown: try await wait(request, left, "the App Store does not know the transaction")
        case .misconfigured(let why): try await wait(request, left, "the App Store refuses our access: \(why)")
        case .tryAgain(let why, let pause): try await wait(request, left, why, atLeast: pause)
        }
    }

    private func end(
        _ request: ClaimedConsumption, _ state: ConsumptionState, trouble: String? = nil
    ) async throws {
        if try await store.consumption.end(request, state, trouble: trouble) { count(state.name) }
    }

    private func wait(
        _ request: ClaimedConsumption, _ left: Duration, _ trouble: String, atLeast pause: Duration? = nil
    ) async throws {
        count("try_again")
        let delay = retries.delay(failures: request.attempts, retryAfter: pause, jitter: .random(in: 0..<1))
        try await store.consumption.postpone(request, .waiting, trouble: trouble, by: Self.pause(delay, left))
    }

    /// Pauses shrink towards the deadline, so that the last try is not at the deadline itself.
    private static func pause(_ wanted: Duration, _ left: Duration) -> Duration {
        left > .seconds(10) ? min(wanted, left / 2) : left
    }

    private func count(_ result: String) {
        Counter(label: "relay_consumption_answers", dimensions: [("result", result)]).increment()
    }
}

extension ConsumptionAnswers: StoredQueue {
    func allowances() -> [StoreEnvironment: ClaimAllowance<Never>] {
        var allowances: [StoreEnvironment: ClaimAllowance<Never>] = [:]
        for environment in AppStoreServerClient.Environment.allCases {
            let route = StoreEnvironment(environment.rawValue)
            allowances[route] = ClaimAllowance(limit: Self.maxConcurrent - leases.with { $0.running(in: route) })
        }
        return allowances
    }

    func claim(_ allowances: [StoreEnvironment: ClaimAllowance<Never>]) async throws -> [ClaimedConsumption] {
        try await store.consumption.claim(allowances.mapValues(\.limit).filter { $0.value > 0 }, lease: lease)
    }

    func route(of request: ClaimedConsumption) -> StoreEnvironment { request.name.environment }

    func work(on requests: [ClaimedConsumption], _ permit: Never?) async throws {
        for request in requests {
            try await traced("answer Apple", request.trace, ["relay.store": "apple"]) { try await answer(request) }
        }
    }
}

extension ClaimedConsumption: LeasedItem {}
