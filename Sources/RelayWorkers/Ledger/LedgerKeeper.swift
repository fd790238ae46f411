import Foundation
public import Logging
import Metrics
import Postgres
import RelayCore
public import RelayStore
public import ServiceLifecycle

/// Looks at subscriptions when it is time, without anybody's word: hears what purchases have brought, ends what is over, and
/// asks Cleeng about what should have renewed and of which the store has said nothing.
///
///     due ──hear──► standing ──not known what became of it──► ask Cleeng ──hear──► goes on, or is over
///
/// Any number of copies may run it; what one took and left is taken up after the lease.
public struct LedgerKeeper: Service {
    private let store: RelayStore
    private let upstream: Upstream
    private let leeway: Duration
    private let readInterval: Duration
    private let wakeup: Wakeup
    private let logger: Logger
    private let idleTick: Duration

    private static let batch = 64
    private static let lease = Duration.seconds(60)
    /// What cannot be gone on with is left alone for this long.
    private static let pause = Duration.seconds(600)

    /// - Parameters:
    ///   - leeway: how long after its end a subscription that will renew is waited for.
    ///   - readInterval: between two entitlement reads of one customer.
    ///   - wakeup: rung when a grant was written.
    public init(
        store: RelayStore, upstream: Upstream, leeway: Duration, readInterval: Duration, wakeup: Wakeup,
        logger: Logger, idleTick: Duration = .milliseconds(500)
    ) {
        self.store = store
        self.upstream = upstream
        self.leeway = leeway
        self.readInterval = readInterval
        self.wakeup = wakeup
        self.logger = logger
        self.idleTick = idleTick
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    if try await runOnce() { continue }
                } catch is CancellationError {
                    break
                } catch {
                    logger.warning("no subscription can be looked at", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: .seconds(1))
                }
                await wakeup.wait(atMost: idleTick)
            }
        }
    }

    /// - Returns: whether there may be more at once.
    func runOnce() async throws -> Bool {
        let due = try await store.claimDueSubscriptions(limit: Self.batch, lease: Self.lease)
        guard !due.isEmpty else { return false }
        let heard = try await hear(due.map { LedgerMessage($0) })
        let asked = heard.filter { $0.isToBeAsked }
        await withTaskGroup { group in
            for one in asked { group.addTask { await ask(one) } }
        }
        return due.count == Self.batch
    }

    /// Together where it goes; else one by one, so that one row that cannot be read harms no other.
    private func hear(_ messages: [LedgerMessage]) async throws -> [HeardSubscription] {
        do {
            return try await store.hear(messages, leeway: leeway)
        } catch let error where !error.isOfARow {
            throw error
        } catch {
            guard messages.count == 1 else {
                var heard: [HeardSubscription] = []
                for message in messages { heard += try await hear([message]) }
                return heard
            }
            logger.error("a subscription cannot be gone on with", metadata: ["error": "\(error)"])
            Counter(label: "relay_ledgers_failed").increment()
            try await store.postpone(messages[0].name, trouble: "\(error)", by: Self.pause)
            return []
        }
    }

    /// Asks Cleeng how a subscription stands, since something was said that may concern it.
    ///
    /// - Parameter event: what was said.
    /// - Returns: false where it could not be asked.
    func lookUp(_ name: SubscriptionName, event: String) async throws -> Bool {
        guard let heard = try await hear([LedgerMessage(name)]).first, let owner = heard.owner else { return true }
        guard let answer = try await entitlement(of: owner, name.publisher) else { return false }
        let end = LedgerEnd(isOver: !answer.isEntitled, until: answer.until, toldAt: heard.heardAt)
        let note = LedgerMessage.Note(
            event: "cleeng_event", detail: "\(event); Cleeng: \(answer.isEntitled ? "entitled" : "not entitled")")
        _ = try await hear([LedgerMessage(name, LedgerWord(end: end), note: note)])
        return true
    }

    /// Cleeng is the only one who can be asked; where it cannot be reached, nothing is over, and it is asked again.
    private func ask(_ subscription: HeardSubscription) async {
        do {
            let word: LedgerWord
            let detail: String
            if let owner = subscription.owner {
                guard let answer = try await entitlement(of: owner, subscription.name.publisher) else {
                    return try await store.postpone(
                        subscription.name, trouble: "Cleeng could not be asked",
                        by: min(readInterval * 12, Self.lease))
                }
                word = LedgerWord(
                    end: LedgerEnd(
                        isOver: !answer.isEntitled, until: answer.until, toldAt: subscription.heardAt))
                detail = answer.isEntitled ? "Cleeng: entitled" : "Cleeng: not entitled"
            } else {
                word = LedgerWord(end: LedgerEnd(isOver: true, toldAt: subscription.heardAt))
                detail = "no word of a renewal, and no customer to ask Cleeng about"
            }
            Counter(label: "relay_subscriptions_looked_up").increment()
            let note = LedgerMessage.Note(event: "looked_up", detail: detail)
            _ = try await hear([LedgerMessage(subscription.name, word, note: note)])
        } catch {
            // Its lease runs out, and it is looked at again.
            logger.warning("a subscription could not be looked up", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: nil where it could not be learned.
    private func entitlement(
        of owner: HeardSubscription.Owner, _ publisher: String
    ) async throws -> (isEntitled: Bool, until: Timestamp?)? {
        // Where nothing else is to be read, this is what finds that Cleeng is well again.
        guard let pass = await upstream.enter(.reads, with: upstream.probe(on: .reads), atMost: .seconds(5)) else {
            return nil
        }
        defer { upstream.leave(pass) }
        let customer = CustomerKey(publisher: publisher, customer: owner.customer)
        guard try await store.takeReads(of: [customer], interval: readInterval)[customer] == .some(nil) else {
            return nil
        }
        let answers = await upstream.entitlements(of: owner.email, offers: [owner.offerID], pass)
        switch answers[owner.offerID]?.verdict {
        case .entitled(let until, _): return (true, until)
        case .notEntitled: return (false, nil)
        case .misconfigured, .tryAgain, nil: return nil
        }
    }
}

extension Error {
    /// Whether a row is to blame, so that the same again comes to the same: what cannot be read, and what the database refuses
    /// for what is in it. All else passes, the end of this work included.
    fileprivate var isOfARow: Bool {
        guard let error = self as? PostgresError else { return self is StoreError }
        if [.decoding, .invalidQuery].contains(error.code) { return true }
        return ["22", "23", "54"].contains { error.sqlState?.hasPrefix($0) == true } && !error.isTransient
    }
}

extension HeardSubscription {
    fileprivate var isToBeAsked: Bool { standing?.lookUpAt.map { $0 <= heardAt } ?? false }
}
