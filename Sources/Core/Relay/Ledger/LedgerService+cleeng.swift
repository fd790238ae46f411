import Logging
import Metrics
import RelayCore

/// Questions to Cleeng, for which no store has an answer.
extension LedgerService {
    private static let longestPostponement = Duration.seconds(60)

    /// Result of looking up subscriptions because of an event.
    enum LookUp: Sendable {
        case done
        /// At least one customer could not be read; nil: the time of the next try is unknown.
        case again(notBefore: Timestamp?)
    }

    /// Asks Cleeng for the status of subscriptions that an event may concern.
    ///
    /// - Parameters:
    ///   - event: topic, offer and time of the event. Skips subscriptions that never opened this offer, and those with
    ///     newer information.
    ///   - unlessRunning: also skips running subscriptions.
    func lookUp(
        _ names: [SubscriptionName], event: (topic: String, offer: OfferID, at: Timestamp), unlessRunning: Bool
    ) async throws -> LookUp {
        var asked: Set<SubscriptionName> = []
        let questions = try await record(names.map { LedgerMessage($0) }, asks: false).compactMap { subscription in
            guard subscription.owner != nil else { return nil as SubscriptionInquiry.Question? }
            // What must be asked anyway is asked with it.
            var offers = subscription.access.questions
            if subscription.opens(event.offer), subscription.askedAt[event.offer].map({ $0 < event.at }) ?? true,
                !(unlessRunning && subscription.isRunning(event.offer))
            {
                offers.insert(event.offer)
                asked.insert(subscription.name)
            }
            return offers.isEmpty ? nil : SubscriptionInquiry.Question(subscription: subscription, offers: offers)
        }
        var end = LookUp.done
        for questions in Self.byCustomer(questions)
        where questions.contains(where: { asked.contains($0.subscription.name) }) {
            switch try await inquiry.ask(questions) {
            case .answered(let answers): try await record(answers, "cleeng_event") { "\(event.topic); \($0.summary)" }
            case .notBefore(let moment): end = .again(notBefore: moment)
            case .away: end = .again(notBefore: nil)
            }
        }
        return end
    }

    /// Asks Cleeng, the only remaining source. If Cleeng is unreachable, nothing ends, and it is asked again later.
    ///
    /// - Parameters:
    ///   - questions: all of one customer, or all without an owner.
    ///   - rows: rows claimed by this process.
    func lookUp(
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
            case .answered(let answers):
                try await record(answers, "looked_up", detail: \.summary)
                let answered = Set(answers.map(\.name))
                try await postpone(questions.filter { !answered.contains($0.subscription.name) }, rows)
            case .notBefore(let moment):
                for one in questions.map(\.subscription) {
                    try await postpone(one.name, rows, by: max(moment - one.updatedAt, .zero) + .milliseconds(50))
                }
            case .away: try await postpone(questions, rows)
            }
        } catch {
            // The rows' leases expire, and the rows are claimed again.
            logger.warning("subscriptions could not be looked up", metadata: ["error": "\(error)"])
        }
    }

    /// Postpones subscriptions about which Cleeng said nothing clear. Those without an owner are answered already.
    private func postpone(
        _ questions: [SubscriptionInquiry.Question], _ rows: [SubscriptionName: ClaimedRow]
    ) async throws {
        for one in questions.map(\.subscription) where one.owner != nil {
            try await postpone(one.name, rows, by: min(inquiry.interval * 12, Self.longestPostponement))
        }
    }

    /// Postpones a subscription. A claimed row changes only if no other worker has claimed or answered it meanwhile.
    func postpone(
        _ name: SubscriptionName, _ rows: [SubscriptionName: ClaimedRow], by pause: Duration,
        _ trouble: String = "Cleeng could not be asked"
    ) async throws {
        if let row = rows[name] {
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

extension LedgerView {
    /// Whether access to the offer is, was or would be granted on this subscription.
    fileprivate func opens(_ offer: OfferID) -> Bool { granted.contains(offer) || access.present == offer }
    /// Whether it is known to open the offer, without an open question about it.
    fileprivate func isRunning(_ offer: OfferID) -> Bool {
        if case .goesOn = access.verdicts[offer] { return !access.questions.contains(offer) }
        return false
    }
}
