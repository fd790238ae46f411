import Foundation
public import Logging
import Metrics
public import RelayCore
public import ServiceLifecycle

/// Updates subscriptions that are due without a statement, and ends expired ones. Asks the store about new grants, and
/// Cleeng about subscriptions that should have renewed without a statement from the store.
///
///     due ──update──► status ──renewal unknown──► ask Cleeng ──update──► runs, or is over
///
/// Any number of copies may run it. A claimed row that a copy leaves behind is claimed again after its lease.
public struct LedgerService: Service {
    let store: RelayStore
    let loop: WorkLoop
    let policy = LeasePolicy(
        trouble: "subscriptions could not be looked at", wakesFrom: Self.batch, isBatch: true)
    /// The routes are the accounts at Cleeng; nil is the shared account.
    let leases: Leases<ClaimedRow.Key, PublisherID?>
    let inquiry: SubscriptionInquiry
    /// Nil without a key for the App Store Server API.
    private let appStore: AppStoreInquiry?
    private let stores: StoreInquiry
    let logger: Logger

    private struct Tenant: Hashable {
        var account: PublisherID?
        var platform: StorePlatform
    }

    private static let batch = 64
    private let lease: Duration
    /// Limit of concurrent calls to each store of an account: the App Store allows fifty calls a second for an app.
    private let asking = CallLimit<Tenant>(each: 8)
    /// Pause after a subscription could not be processed.
    private static let pause = Duration.seconds(600)
    /// Pause before a store that was away is asked again about a subscription whose end is in doubt.
    private static let storePause = Duration.seconds(60)

    /// Pause of a moved id whose former id only the store knows, and no account can ask that store.
    private static let unaskedPause = Duration.seconds(86_400)

    /// - Parameters:
    ///   - appStore: asked before Cleeng.
    ///   - stores: asked before Cleeng about purchases in other stores.
    ///   - readInterval: time between two entitlement reads of one customer.
    ///   - callTimeout: limit of a call to Cleeng.
    public init(
        store: RelayStore, upstreams: PerPublisher<Upstream>, appStore: AppStoreInquiry?, stores: StoreInquiry,
        readInterval: Duration, callTimeout: Duration, wakeup: Wakeup, logger: Logger
    ) {
        self.store = store
        lease = LeaseTerm.ofThreeCalls(of: callTimeout)
        leases = Leases(.fixed(startWithin: lease))
        inquiry = SubscriptionInquiry(store: store, upstreams: upstreams, interval: readInterval)
        self.appStore = appStore
        self.stores = stores
        loop = WorkLoop(
            name: "ledger", wakeup: wakeup, idleTick: { DueWatch.fallback }, logger: logger,
            complaint: "no subscription can be looked at")
        self.logger = logger
    }

    public func run() async throws { await LeaseEngine(queue: self).run() }

    private func look(at due: [ClaimedSubscription]) async throws {
        let rows = Dictionary(due.map { ($0.name, $0.row) }, uniquingKeysWith: { one, _ in one })
        var results = try await record(due.map { LedgerMessage($0.name) }, rows)
        do {
            results += try await recordPresent(of: results)
        } catch let error where error.isOverTime {
            for one in results where one.presentName != nil {
                try await postpone(one.name, rows, by: Self.pause, "\(error)")
            }
        }
        let unanswered = await askStores(
            results.filter { $0.isToBeAsked || isNew($0) || $0.isOnlyLinked && canAsk(about: $0) }, rows)
        for one in results where one.isOnlyLinked && !canAsk(about: one) {
            try await postpone(
                one.name, rows, by: Self.unaskedPause, "the store cannot be asked which purchase it continues")
        }
        try await store.questions.askAgain(about: results.filter(isToBeRechecked))
        await withTaskGroup { group in
            for questions in Self.byCustomer(unanswered.map(\.question)) {
                group.addTask { await lookUp(questions, rows) }
            }
        }
        try Task.checkCancellation()
    }

    /// Evaluates the present ids of subscriptions that were granted under a former id. The present id decides about
    /// access, and takes over the owner if it has none.
    private func recordPresent(of former: [LedgerView]) async throws -> [LedgerView] {
        var found: [LedgerView] = []
        var former = former
        for _ in 0..<Self.mostMoves {
            let messages = LedgerMessage.following(former)
            guard !messages.isEmpty else { break }
            let names = Set(former.compactMap(\.presentName))
            former = try await record(messages).filter { names.contains($0.name) }
            found += former
        }
        return found
    }

    /// Limit of moves that are followed: as many as a ledger remembers.
    private static let mostMoves = SubscriptionLedger.mostPredecessors

    /// Whether the store must be asked at once, because it has sent no statement since the grant.
    private func isNew(_ subscription: LedgerView) -> Bool {
        subscription.isUnreported && canAsk(about: subscription)
    }

    private func canAsk(about subscription: LedgerView) -> Bool {
        let platform = subscription.name.platform
        return platform == .apple
            ? appStore?.canAsk(about: subscription) == true : stores.canAsk(platform, of: subscription.name.publisher)
    }

    private func isToBeRechecked(_ subscription: LedgerView) -> Bool {
        guard !subscription.isToBeAsked, let moment = subscription.recheckAt, moment <= subscription.updatedAt else {
            return false
        }
        return canAsk(about: subscription)
    }

    /// Asks the stores, which have better information than Cleeng.
    ///
    /// - Returns: subscriptions about which Cleeng must still be asked.
    private func askStores(
        _ subscriptions: [LedgerView], _ rows: [SubscriptionName: ClaimedRow]
    ) async -> [LedgerView] {
        var unanswered: [LedgerView] = []
        await withTaskGroup(of: LedgerView?.self) { group in
            for subscription in subscriptions {
                let tenant = Tenant(account: account(of: subscription.name), platform: subscription.name.platform)
                group.addTask { await asking.call(for: tenant) { await ask(about: subscription, rows) } }
            }
            for await one in group { if let one { unanswered.append(one) } }
        }
        return unanswered
    }

    /// - Returns: nil if the store has answered, or is asked again later.
    private func ask(
        about subscription: LedgerView, _ rows: [SubscriptionName: ClaimedRow]
    ) async -> LedgerView? {
        guard !subscription.name.standsAlone else { return subscription }
        let statement =
            subscription.name.platform == .apple
            ? await appStore?.ask(about: subscription) ?? .nothing : await stores.ask(about: subscription)
        guard case .stated(let message) = statement else {
            let trouble = "the store cannot be asked now"
            switch statement {
            // A new subscription without an open question is not in doubt, so Cleeng need not be asked.
            case .away where !subscription.isToBeAsked:
                try? await store.subscriptions.lookAgain(
                    at: subscription.name, claim: rows[subscription.name], trouble: trouble, within: Self.pause)
            // A store's silence ends nothing. Without an owner there is no customer to ask Cleeng about.
            case .away where subscription.owner == nil:
                try? await postpone(subscription.name, rows, by: Self.storePause, trouble)
            case .nothing where subscription.isOnlyLinked:
                // The store has no more about it.
                _ = try? await record([LedgerMessage(subscription.name, .over(statedAt: subscription.updatedAt))])
            default: return subscription.isToBeAsked ? subscription : nil
            }
            return nil
        }
        Counter(label: "relay_subscriptions_looked_up").increment()
        guard let results = try? await record(message.withMoves),
            let result = results.first(where: { $0.name == message.name })
        else { return subscription }
        if result.presentName != nil { _ = try? await recordPresent(of: results) }
        return result.isToBeAsked ? result : nil
    }

    /// Groups questions by customer. Subscriptions without an owner form one group.
    static func byCustomer(_ questions: [SubscriptionInquiry.Question]) -> [[SubscriptionInquiry.Question]] {
        let groups = Dictionary(grouping: questions) { question in
            question.subscription.owner.map {
                CustomerKey(publisher: question.subscription.name.publisher, customer: $0.customer)
            }
        }
        return Array(groups.values)
    }

    /// Records messages together. If the data is at fault or takes too long, records them one by one, so that such a row
    /// does not affect the others.
    ///
    /// - Parameters:
    ///   - rows: rows claimed by this process, which failures count against.
    ///   - asks: whether open questions are asked afterwards.
    ///   - isPart: whether several messages together took too long. A message by itself that does is postponed then;
    ///     otherwise the database may be slow.
    func record(
        _ messages: [LedgerMessage], _ rows: [SubscriptionName: ClaimedRow] = [:], asks: Bool = true,
        isPart: Bool = false
    ) async throws -> [LedgerView] {
        do {
            return try await store.subscriptions.record(messages, asks: asks, asksFor: lease)
        } catch let error where messages.count > 1 && (error.isForGood || error.isOverTime) {
            var results: [LedgerView] = []
            for message in messages {
                results += try await record([message], rows, asks: asks, isPart: error.isOverTime)
            }
            return results
        } catch let error where isPart && error.isOverTime {
            try await postpone(messages[0].name, rows, by: Self.pause, "\(error)")
            // If the database is slow, each round postpones one subscription.
            throw error
        } catch let error where !error.isForGood {
            throw error
        } catch {
            logger.error(
                "a subscription cannot be processed",
                metadata: [
                    "original_transaction_id": "\(messages[0].name.originalTransactionID.loggable)",
                    "error": "\(error)",
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
}

extension LedgerService: StoredQueue {
    func allowances() -> [PublisherID?: ClaimAllowance<Never>] {
        leases.allowances(of: accounts, each: Self.batch)
    }

    /// An account may get more rows than its limit, but none while it has no free place.
    func claim(_ allowances: [PublisherID?: ClaimAllowance<Never>]) async throws -> [ClaimedSubscription] {
        try await store.subscriptions.claimDue(
            own: Array(inquiry.upstreams.own.keys), full: Set(allowances.filter { $0.value.limit == 0 }.keys),
            limit: Self.batch, lease: lease)
    }

    func route(of claimed: ClaimedSubscription) -> PublisherID? { account(of: claimed.name) }

    private var accounts: [PublisherID?] { [nil] + inquiry.upstreams.own.keys.map(Optional.some) }

    private func account(of name: SubscriptionName) -> PublisherID? {
        inquiry.upstreams.own[name.publisher] == nil ? nil : name.publisher
    }

    func work(on due: [ClaimedSubscription], _: Never?) async throws {
        try await look(at: due)
        try await store.queues.clear(due.map(\.row))
    }
}

extension LedgerView {
    fileprivate var question: SubscriptionInquiry.Question {
        SubscriptionInquiry.Question(subscription: self, offers: access.questions)
    }
}
