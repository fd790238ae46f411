import Foundation
public import Logging
import Metrics
import NIOConcurrencyHelpers
import RelayCore
public import RelayStore
public import ServiceLifecycle

/// Looks at subscriptions when it is time, without a statement: records new purchases, ends what is over, and
/// asks Cleeng about what should have renewed and of which the store has said nothing.
///
///     due ──update──► status ──renewal unknown──► ask Cleeng ──update──► runs, or is over
///
/// Any number of copies may run it; what one claimed and left is claimed again after the lease.
public struct LedgerService: Service {
    let store: RelayStore
    let loop: WorkLoop
    let policy = LeasePolicy(
        trouble: "subscriptions could not be looked at", wakesFrom: Self.batch, isBatch: true)
    /// The routes are the accounts at Cleeng; nil is the one that publishers share.
    let leases = Leases<ClaimedRow.Key, PublisherID?>(.fixed(startWithin: Self.lease))
    /// Subscriptions that this process has just granted: updated without a claim.
    private let granted = NIOLockedValueBox<[SubscriptionName]>([])
    private let inquiry: SubscriptionInquiry
    /// Nil where no key was given to ask the App Store with.
    private let appStore: AppStoreInquiry?
    private let stores: StoreInquiry
    public let leeway: Duration
    private let logger: Logger

    private struct Tenant: Hashable {
        var account: PublisherID?
        var platform: StorePlatform
    }

    private static let batch = 64
    private static let lease = Duration.seconds(60)
    /// Most grants that wait for an update. The others become due.
    private static let mostGranted = 10_000
    /// Calls at once to each store of an account: the App Store takes fifty calls a second of one app.
    private let asking = CallLimit<Tenant>(each: 8)
    /// Pause after a subscription could not be processed.
    private static let pause = Duration.seconds(600)

    /// - Parameters:
    ///   - appStore: asked before Cleeng is.
    ///   - stores: asked before Cleeng is about what was bought elsewhere.
    ///   - leeway: how long after its end a subscription that will renew is waited for.
    ///   - readInterval: between two entitlement reads of one customer.
    public init(
        store: RelayStore, upstreams: PerPublisher<Upstream>, appStore: AppStoreInquiry?, stores: StoreInquiry,
        leeway: Duration, readInterval: Duration, wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        inquiry = SubscriptionInquiry(store: store, upstreams: upstreams, interval: readInterval)
        self.appStore = appStore
        self.stores = stores
        self.leeway = leeway
        loop = WorkLoop(
            name: "ledger", wakeup: wakeup, idleTick: { DueWatch.fallback }, logger: logger,
            complaint: "no subscription can be looked at")
        self.logger = logger
    }

    public func run() async throws { await LeaseEngine(queue: self).run() }

    private func look(at due: [ClaimedSubscription]) async throws {
        let rows = Dictionary(due.map { ($0.name, $0.row) }, uniquingKeysWith: { one, _ in one })
        let results = try await record(due.map { LedgerMessage($0.name) }, rows)
        let unanswered = await askStores(results.filter { $0.isToBeAsked || isNew($0) })
        try await store.questions.askAgain(about: results.filter(isToBeRechecked))
        await withTaskGroup { group in
            for questions in Self.byCustomer(unanswered.map(\.question)) {
                group.addTask { await lookUp(questions, rows) }
            }
        }
        try Task.checkCancellation()
    }

    /// What was granted and its store has said nothing of is asked for at once: whether it will renew, at which price, and for
    /// other stores than Apple's what was bought at all.
    private func isNew(_ subscription: LedgerResult) -> Bool {
        guard !subscription.hasRenewalInfo, !subscription.name.standsAlone else { return false }
        guard subscription.platform == .apple else {
            return stores.canAsk(subscription.platform, of: subscription.name.publisher)
        }
        return subscription.standing?.status == .active && appStore?.canAsk(about: subscription) == true
    }

    private func isToBeRechecked(_ subscription: LedgerResult) -> Bool {
        guard !subscription.isToBeAsked, let moment = subscription.recheckAt, moment <= subscription.updatedAt else {
            return false
        }
        return stores.canAsk(subscription.platform, of: subscription.name.publisher)
    }

    /// The store knows best, where it can be asked.
    ///
    /// - Returns: those about which Cleeng has to be asked all the same.
    private func askStores(_ subscriptions: [LedgerResult]) async -> [LedgerResult] {
        var unanswered: [LedgerResult] = []
        await withTaskGroup(of: LedgerResult?.self) { group in
            for subscription in subscriptions {
                let tenant = Tenant(account: account(of: subscription.name), platform: subscription.platform)
                group.addTask { await asking.call(for: tenant) { await ask(about: subscription) } }
            }
            for await one in group { if let one { unanswered.append(one) } }
        }
        return unanswered
    }

    /// - Returns: nil where that has answered it.
    private func ask(about subscription: LedgerResult) async -> LedgerResult? {
        guard !subscription.name.standsAlone else { return subscription }
        let word =
            subscription.platform == .apple
            ? await appStore?.ask(about: subscription) ?? .nothing : await stores.ask(about: subscription)
        guard case .stated(let message) = word else {
            guard !subscription.isToBeAsked else { return subscription }
            // One that is only new is not in doubt: Cleeng need not be asked.
            if case .away = word {
                try? await store.subscriptions.lookAgain(
                    at: subscription.name, trouble: "the store cannot be asked now", within: Self.pause)
            }
            return nil
        }
        Counter(label: "relay_subscriptions_looked_up").increment()
        guard let result = try? await record(message.withMoves).first(where: { $0.name == message.name }) else {
            return subscription
        }
        return result.isToBeAsked ? result : nil
    }

    /// One question each; what nobody owns is a question of its own.
    private static func byCustomer(_ questions: [SubscriptionInquiry.Question]) -> [[SubscriptionInquiry.Question]] {
        let groups = Dictionary(grouping: questions) { question in
            question.subscription.owner.map {
                CustomerKey(publisher: question.subscription.name.publisher, customer: $0.customer)
            }
        }
        return Array(groups.values)
    }

    /// Together where it goes; else one by one, so that one row that cannot be read harms no other.
    ///
    /// - Parameters:
    ///   - rows: those that this process holds: failures count against them.
    ///   - asks: whether it asks about what is then in question.
    private func record(
        _ messages: [LedgerMessage], _ rows: [SubscriptionName: ClaimedRow] = [:], asks: Bool = true
    ) async throws -> [LedgerResult] {
        do {
            return try await store.subscriptions.record(messages, leeway: leeway, asks: asks)
        } catch let error where !error.isForGood {
            throw error
        } catch {
            guard messages.count == 1 else {
                var results: [LedgerResult] = []
                for message in messages { results += try await record([message], rows, asks: asks) }
                return results
            }
            logger.error(
                "a subscription cannot be processed",
                metadata: [
                    "original_transaction_id": "\(messages[0].name.originalTransactionID)", "error": "\(error)",
                ])
            Counter(label: "relay_ledgers_failed").increment()
            if let row = rows[messages[0].name] {
                await store.queues.fail(row, error)
            } else {
                try await store.subscriptions.lookAgain(
                    at: messages[0].name, trouble: "\(error)", within: Self.pause)
            }
            return []
        }
    }

    /// How it ended to look subscriptions up because of an event.
    enum LookUp: Sendable {
        case done
        /// Somebody could not be asked about; nil: it is not known from when on they can be.
        case again(notBefore: Timestamp?)
    }

    /// Asks Cleeng how subscriptions stand, since something was said that may concern them.
    ///
    /// - Parameters:
    ///   - event: what was said of which offer, and when. Subscriptions that never opened this offer, and those of which more was learned
    ///     since, are left alone.
    ///   - unlessRunning: those that run are left alone too.
    func lookUp(
        _ names: [SubscriptionName], event: (topic: String, offer: OfferID, at: Timestamp), unlessRunning: Bool
    ) async throws -> LookUp {
        let questions = try await record(names.map { LedgerMessage($0) }, asks: false).filter { subscription in
            subscription.owner != nil && subscription.opens(event.offer)
                && subscription.askedAt[event.offer].map { $0 < event.at } ?? true
                && !(unlessRunning && subscription.isRunning(event.offer))
        }.map { SubscriptionInquiry.Question(subscription: $0, offers: [event.offer]) }
        var end = LookUp.done
        for questions in Self.byCustomer(questions) {
            switch try await inquiry.ask(questions) {
            case .answered(let answers): try await record(answers, "cleeng_event") { "\(event.topic); \($0.summary)" }
            case .notBefore(let moment): end = .again(notBefore: moment)
            case .away: end = .again(notBefore: nil)
            }
        }
        return end
    }

    /// Cleeng is the only one who can be asked; where it cannot be reached, nothing is over, and it is asked again.
    ///
    /// - Parameters:
    ///   - questions: all of one customer's, or all nobody's.
    ///   - rows: those that this process holds.
    private func lookUp(
        _ questions: [SubscriptionInquiry.Question], _ rows: [SubscriptionName: ClaimedRow]
    ) async {
        do {
            let unowned = questions.map(\.subscription).filter { $0.owner == nil }
            if !unowned.isEmpty {
                Counter(label: "relay_subscriptions_looked_up").increment(by: unowned.count)
                _ = try await record(
                    unowned.map { subscription in
                        LedgerMessage(
                            subscription.name, .over(statedAt: subscription.updatedAt), condition: .whileOwned(by: nil),
                            note: .init(
                                event: "looked_up",
                                detail: "no renewal was recorded, and there is no customer to ask Cleeng about"))
                    })
            }
            switch try await inquiry.ask(questions) {
            case .answered(let answers): try await record(answers, "looked_up", detail: \.summary)
            case .notBefore(let moment):
                for one in questions.map(\.subscription) {
                    try await postpone(one.name, rows, by: max(moment - one.updatedAt, .zero) + .milliseconds(50))
                }
            case .away:
                for one in questions {
                    try await postpone(one.subscription.name, rows, by: min(inquiry.interval * 12, Self.lease))
                }
            }
        } catch {
            // Their lease runs out, and they are looked at again.
            logger.warning("subscriptions could not be looked up", metadata: ["error": "\(error)"])
        }
    }

    /// A worker whose lease ran out changes nothing: another one may have got the answer meanwhile.
    private func postpone(
        _ name: SubscriptionName, _ rows: [SubscriptionName: ClaimedRow], by pause: Duration
    ) async throws {
        let trouble = "Cleeng could not be asked"
        if let row = rows[name], row.isClaimed {
            try await store.queues.postpone(row, trouble: trouble, by: pause)
        } else {
            try await store.subscriptions.lookAgain(at: name, trouble: trouble, within: pause)
        }
    }

    private func record(
        _ answers: [SubscriptionInquiry.Answer], _ event: String, detail: (SubscriptionInquiry.Answer) -> String
    ) async throws {
        guard !answers.isEmpty else { return }
        Counter(label: "relay_subscriptions_looked_up").increment(by: answers.count)
        _ = try await record(
            answers.map { answer in
                LedgerMessage(
                    answer.name, LedgerStatement(cleeng: answer.cleeng), condition: .whileOwned(by: answer.owner),
                    note: .init(event: event, detail: detail(answer)))
            }, asks: false)
    }
}

extension LedgerService: GrantListener {
    public func asks(about subscription: LedgerResult) -> Bool {
        // Of what its store wants acknowledged, the store is asked by itself (`StoreQuestions`).
        subscription.isToBeAsked || (!store.memory.acknowledged.contains(subscription.platform) && isNew(subscription))
    }

    public func updateLedgers(granted names: [SubscriptionName]) {
        granted.withLockedValue { if $0.count < Self.mostGranted { $0 += names } }
        loop.wakeup.signal()
    }
}

extension LedgerService: StoredQueue {
    /// What was granted meanwhile. It waits while its account has much under way.
    func prepare() async throws -> [ClaimedSubscription] {
        let busy = leases.with { table in accounts.filter { table.running(in: $0) >= Self.batch * 4 } }
        let (names, isMore) = granted.withLockedValue { granted in
            var names: Set<SubscriptionName> = []
            granted.removeAll { name in
                guard names.count < Self.batch, !busy.contains(account(of: name)) else { return false }
                names.insert(name)
                return true
            }
            return (names, !granted.isEmpty)
        }
        if isMore, names.count == Self.batch { loop.wakeup.signal() }
        return names.map { ClaimedSubscription(granted: $0) }
    }

    func turns() -> [PublisherID?: Turn<Never>] {
        leases.turns(of: accounts, each: Self.batch)
    }

    /// One account may get more than its turn, and none while it has no place.
    func claim(_ turns: [PublisherID?: Turn<Never>]) async throws -> [ClaimedSubscription] {
        try await store.subscriptions.claimDue(
            own: Array(inquiry.upstreams.own.keys), full: Set(turns.filter { $0.value.limit == 0 }.keys),
            limit: Self.batch, lease: Self.lease)
    }

    func route(of claimed: ClaimedSubscription) -> PublisherID? { account(of: claimed.name) }

    private var accounts: [PublisherID?] { [nil] + inquiry.upstreams.own.keys.map(Optional.some) }

    private func account(of name: SubscriptionName) -> PublisherID? {
        inquiry.upstreams.own[name.publisher] == nil ? nil : name.publisher
    }

    func work(on due: [ClaimedSubscription], _: Never?) async throws {
        try await look(at: due)
        try await store.queues.clear(due.map(\.row).filter(\.isClaimed))
    }
}

extension LedgerResult {
    fileprivate var platform: StorePlatform { StorePlatform(subscriptionKey: name.originalTransactionID) }
    /// The store has to be asked, or Cleeng.
    fileprivate var isToBeAsked: Bool {
        !access.questions.isEmpty || standing?.lookUpAt.map { $0 <= updatedAt } ?? false
    }
    fileprivate var question: SubscriptionInquiry.Question {
        SubscriptionInquiry.Question(subscription: self, offers: access.questions)
    }
    /// Whether access to the offer is, or was, granted on it, or would be.
    fileprivate func opens(_ offer: OfferID) -> Bool { granted.contains(offer) || access.present == offer }
    /// Whether it is known to open the offer, and nothing is to be asked about that.
    fileprivate func isRunning(_ offer: OfferID) -> Bool {
        if case .goesOn = access.verdicts[offer] { return !access.questions.contains(offer) }
        return false
    }
}
