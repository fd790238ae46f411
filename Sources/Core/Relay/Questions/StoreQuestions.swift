public import Logging
import Metrics
public import RelayCore
public import ServiceLifecycle
import Tracing

/// Asks the store about each purchase that a notification named or that was just granted. The ledger records the
/// answer. A notification is only a signal: a forged one makes the relay ask, and the store's answer decides. The
/// worker acknowledges a grant if the store requires it.
///
/// A question waits while the store cannot be asked: up to 15 minutes between two tries, and up to six hours after a
/// refusal. It is dropped after three days without access to the store, and after five refusals if no app has posted
/// the purchase.
public struct StoreQuestions: Service {
    let store: RelayStore
    let loop: WorkLoop
    let policy = LeasePolicy(trouble: "what a store said could not be written", wakesFrom: Self.maxConcurrent)
    let leases = Leases<ClaimedRow.Key, StorePlatform>(.fixed(startWithin: .seconds(45)))
    private let inquiry: StoreInquiry
    private let own: [PublisherID]
    private let logger: Logger
    private let breakers: Breakers<StorePlatform>
    private let retries = RetrySchedule(first: .seconds(1), longest: .seconds(900))
    private let refusals = RetrySchedule(first: .seconds(60), longest: .seconds(21_600))

    /// Limit of concurrent questions for each store.
    private static let maxConcurrent = 8
    private static let mostRefusals = 5
    private static let mostNoted = 4
    /// Tries in three days: by then Google has refunded unacknowledged purchases.
    private static let mostUnconfigured = 288
    private static let unconfiguredPause = Duration.seconds(900)
    /// Until then the wait for a purchase may have ended.
    private static let paidPause = Duration.seconds(15)
    /// Two reads and an acknowledgement take fifteen seconds at most.
    private static let lease = Duration.seconds(60)

    /// - Parameters:
    ///   - own: publishers whose own accounts this copy has.
    ///   - wakeup: signalled when a notification has arrived.
    public init(
        store: RelayStore, inquiry: StoreInquiry, own: [PublisherID], wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        self.inquiry = inquiry
        self.own = own
        self.logger = logger
        loop = WorkLoop(
            name: "questions", wakeup: wakeup, idleTick: { DueWatch.fallback }, logger: logger,
            complaint: "no purchase can be asked about")
        breakers = Breakers { platform, change in
            change.log(
                to: logger, opened: "a store cannot be asked: what it sent word of waits",
                closed: "the store can be asked again"
            ) { event in
                event == .opened
                    ? ["store": "\(platform.rawValue)", "error": "\(change.after.health.lastError ?? "")"]
                    : ["store": "\(platform.rawValue)"]
            }
        }
    }

    public func run() async throws { await LeaseEngine(queue: self).run() }

    private func ask(about question: ClaimedQuestion, _ permit: Breakers<StorePlatform>.Permit) async throws {
        let known = try await store.questions.known(question)
        // After a suspension, the process must check whether its lease has expired.
        guard leases.with({ $0.covers(question.lease) }), let askedAt = store.memory.clock.now else {
            throw CancellationError()
        }
        // A notification may name another app than the purchase's, so the known purchase takes precedence.
        let answer = await inquiry.ask(
            question.name.originalTransactionID, of: question.name.publisher,
            bundleID: known.lazy.compactMap(\.bundleID).first ?? question.bundleID,
            productID: known.lazy.compactMap(\.productID).first ?? question.productID)
        if Task.isCancelled, case .tryAgain = answer { throw CancellationError() }
        Counter(
            label: "relay_store_questions_asked",
            dimensions: [("store", question.store.rawValue), ("result", answer.label)]
        ).increment()
        // In a task of its own: cancellation of the current task would cancel the statements. If nothing can be
        // written, the store is asked twice.
        try await Task {
            if let trouble = try await take(answer, askedAt, to: question, known.map(\.name), permit) {
                try await store.questions.postpone(
                    question, trouble: trouble.what, by: trouble.pause, doubts: trouble.doubts)
            } else {
                try await store.questions.end(question)
            }
        }.value
    }

    /// Why a question stays open.
    private struct Trouble {
        var what: String
        var pause: Duration
        /// Nil: the answer was not doubted.
        var doubts: Int?
    }

    /// - Parameter askedAt: by the database's clock, before the call.
    /// - Returns: nil if nothing more must be asked.
    private func take(
        _ answer: ExternalStoreAnswer, _ askedAt: Timestamp, to question: ClaimedQuestion, _ known: [SubscriptionName],
        _ permit: Breakers<StorePlatform>.Permit
    ) async throws -> Trouble? {
        let subject = question.name.hashValue
        switch answer {
        case .tryAgain(let pause):
            breakers.end(permit, CallResult(.failure("it does not answer"), subject: subject))
            return Trouble(what: "the store cannot be asked now", pause: delay(question, atLeast: pause))
        // A forged notification may name any app. If no app has posted the purchase, the store is asked when one does.
        case .misconfigured where known.isEmpty && question.attempts >= Self.mostRefusals: return nil
        case .misconfigured(let why):
            if question.attempts == 1 { try await passToOthers(question, known) }
            // The breaker does not count it: all apps and publishers share it, and the refusal may concern only one.
            return Trouble(what: "the store does not let the relay ask: \(why)", pause: refusedDelay(question))
        case .notConfigured where question.attempts >= Self.mostUnconfigured: return nil
        case .notConfigured:
            if question.attempts == 1 { try await passToOthers(question, known) }
            return Trouble(
                what: "no access to this store is configured for the publisher", pause: Self.unconfiguredPause)
        case .found(let found):
            breakers.end(permit, CallResult(.success, subject: subject))
            if known.isEmpty, try await passToOwner(question, of: found) { return nil }
            return try await record(found, askedAt, question, known)
        case .no, .ended, .unknown:
            breakers.end(permit, CallResult(.success, subject: subject))
            if question.expects == .runs, let doubt = doubt(question, "the store does not know the purchase") {
                return doubt
            }
            try await passToOthers(question, known)
            // `no` proves nothing: the query itself may be wrong.
            if case .no = answer { return nil }
            try await recordAbsence(askedAt, question, known)
            return nil
        }
    }

    /// Passes a question to the publisher that has the purchase which this one continues.
    ///
    /// - Returns: whether there is one.
    private func passToOwner(_ question: ClaimedQuestion, of found: [ExternalSubscription]) async throws -> Bool {
        guard !question.isPassed else { return false }
        let former = found.reduce(into: Set<TransactionID>()) { $0.formUnion($1.statement.movesFrom) }
        guard try await store.questions.environments(of: former, publisher: question.name.publisher).isEmpty,
            let owner = try await store.questions.publisher(of: former, besides: question)
        else { return false }
        try await store.questions.pass(question, to: [owner])
        return true
    }

    /// Asks the accounts of the app's other publishers too, if the store gives this one no answer about an unknown
    /// purchase. This account is asked on as before.
    private func passToOthers(_ question: ClaimedQuestion, _ known: [SubscriptionName]) async throws {
        guard known.isEmpty, !question.isPassed else { return }
        try await store.questions.pass(question, to: try await store.questions.others(for: question))
    }

    private func delay(_ question: ClaimedQuestion, atLeast pause: Duration?) -> Duration {
        retries.delay(failures: question.attempts, retryAfter: pause, jitter: .random(in: 0..<1))
    }

    /// Delay after a refusal that only an operator can fix.
    private func refusedDelay(_ question: ClaimedQuestion) -> Duration {
        refusals.delay(failures: question.attempts, retryAfter: nil, jitter: .random(in: 0..<1))
    }

    private func doubt(_ question: ClaimedQuestion, _ what: String) -> Trouble? {
        question.doubtPause.map { Trouble(what: what, pause: $0, doubts: question.doubts - 1) }
    }

    /// Records the store's answer. A purchase that no app has posted gets a ledger for a later post.
    private func record(
        _ found: [ExternalSubscription], _ askedAt: Timestamp, _ question: ClaimedQuestion, _ known: [SubscriptionName]
    ) async throws -> Trouble? {
        guard let one = found.purchase(question.name.originalTransactionID) else { return nil }
        for name in try await known.isEmpty ? names(of: one, question) : known {
            // Only the first tries are noted, since a question may be asked for days.
            let note =
                question.attempts <= Self.mostNoted && !question.isRecheck
                ? question.note("\(question.store.rawValue): as the store has it") : nil
            let message = LedgerMessage(
                name, one.statement.replacing(question.replaces, at: askedAt).refunding(question.refunds),
                bundleID: one.bundleID, note: note)
            let results = try await store.subscriptions.record(message.withMoves)
            // The grant may be under a former id: a changed plan has a new one.
            // The owner's validation may be gone, by retention.
            let runs = results.first { $0.name == name }?.state?.status.grantsAccess == true
            if runs, try await store.questions.sendPaid(one.key, of: name.publisher) {
                return Trouble(what: "a purchase that was paid later is still waited for", pause: Self.paidPause)
            }
            guard results.contains(where: { !$0.granted.isEmpty || $0.owner != nil }) else { continue }
            guard runs else {
                if question.expects == .runs, let doubt = doubt(question, "the store does not say yet that it runs") {
                    return doubt
                }
                continue
            }
            if one.awaitsAcknowledgement != nil, let trouble = try await acknowledge(one, question, name) {
                return trouble
            }
            if question.expects == .isOver, let doubt = doubt(question, "the store still says that it runs") {
                return doubt
            }
        }
        return nil
    }

    /// Names under which an unknown purchase is recorded. It continues other purchases in their environments, and a
    /// purchase that was posted while its store was away is in the environment `unknown`.
    private func names(of one: ExternalSubscription, _ question: ClaimedQuestion) async throws -> [SubscriptionName] {
        let former = one.statement.movesFrom.union(question.replaces.map { [$0] } ?? [])
        let environments = try await store.questions.environments(of: former, publisher: question.name.publisher)
        return (environments.isEmpty ? [one.environment] : environments.sorted()).map {
            SubscriptionName(publisher: question.name.publisher, environment: $0, originalTransactionID: one.key)
        }
    }

    /// Acknowledges a purchase whose grant is committed. If a copy dies after the call, the next answer shows the
    /// purchase as acknowledged.
    private func acknowledge(
        _ purchase: ExternalSubscription, _ question: ClaimedQuestion, _ name: SubscriptionName
    ) async throws -> Trouble? {
        guard leases.with({ $0.covers(question.lease) }) else { throw CancellationError() }
        let answer = await inquiry.acknowledge(purchase, of: name.publisher)
        let (result, trouble): (String, Trouble?) =
            switch answer {
            case .done: ("done", nil)
            case .refused(let detail):
                (
                    "refused",
                    Trouble(
                        what: "the store does not take the acknowledgement: \(detail)",
                        pause: delay(question, atLeast: nil))
                )
            case .misconfigured(let why):
                (
                    "misconfigured",
                    Trouble(
                        what: "the relay may not acknowledge the purchase: \(why)", pause: refusedDelay(question))
                )
            case .tryAgain(let pause):
                (
                    "try_again",
                    Trouble(what: "the purchase cannot be acknowledged now", pause: delay(question, atLeast: pause))
                )
            }
        Counter(
            label: "relay_purchases_acknowledged", dimensions: [("store", question.store.rawValue), ("result", result)]
        ).increment()
        guard trouble == nil else { return trouble }
        let note = LedgerMessage.Note(
            event: "acknowledged", detail: "\(question.store.rawValue) has the acknowledgement")
        _ = try await store.subscriptions.record([LedgerMessage(name, note: note)])
        return nil
    }

    /// - Parameter askedAt: statements after this time are newer.
    private func recordAbsence(
        _ askedAt: Timestamp, _ question: ClaimedQuestion, _ known: [SubscriptionName]
    ) async throws {
        let results = try await store.subscriptions.record(
            known.map { LedgerMessage($0) })
        _ = try await store.subscriptions.record(
            results.filter(\.hasRenewalInfo).map { subscription in
                LedgerMessage(
                    subscription.name, .over(statedAt: askedAt).refunding(question.refunds),
                    note: question.note("\(question.store.rawValue): the store does not know it"))
            })
    }
}

extension StoreQuestions: StoredQueue {
    func allowances() -> [StorePlatform: ClaimAllowance<Breakers<StorePlatform>.Permit>] {
        var allowances: [StorePlatform: ClaimAllowance<Breakers<StorePlatform>.Permit>] = [:]
        // Questions to stores that this copy has no access to are left to other copies.
        for platform in StorePlatform.asked where inquiry.platforms.contains(platform) {
            let available = Self.maxConcurrent - leases.with { $0.running(in: platform) }
            allowances[platform] = breakers.allowance(in: platform) { _ in available }
        }
        return allowances
    }

    func claim(_ allowances: [StorePlatform: ClaimAllowance<Breakers<StorePlatform>.Permit>]) async throws
        -> [ClaimedQuestion]
    {
        try await store.questions.claim(
            allowances.mapValues(\.limit).filter { $0.value > 0 }, own: own, lease: Self.lease)
    }

    func route(of question: ClaimedQuestion) -> StorePlatform { question.store }

    func work(on questions: [ClaimedQuestion], _ permit: Breakers<StorePlatform>.Permit?) async throws {
        guard let permit else { throw CancellationError() }
        for question in questions {
            try await traced("ask the store", question.trace, ["relay.store": "\(question.store.rawValue)"]) {
                try await ask(about: question, permit)
            }
        }
    }

    func release(_ permit: Breakers<StorePlatform>.Permit) { breakers.end(permit) }
}

extension ClaimedQuestion: LeasedItem {}

extension LedgerStatement {
    /// Adds the move from the purchase that this one replaced. Amazon names that purchase only in its notification.
    fileprivate func replacing(_ old: TransactionID?, at moment: Timestamp) -> LedgerStatement {
        guard let old else { return self }
        var statement = self
        statement.movesFrom.insert(old)
        statement.movedAt = statement.movedAt ?? moment
        return statement
    }
}

extension ExternalStoreAnswer {
    /// Label for a metric.
    fileprivate var label: String {
        switch self {
        case .found: "found"
        case .no: "no"
        case .ended: "ended"
        case .unknown: "unknown"
        case .notConfigured: "not_configured"
        case .misconfigured: "misconfigured"
        case .tryAgain: "try_again"
        }
    }
}
