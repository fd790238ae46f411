import RelayCore

/// One event of a random walk, with the pursuit before and after it and the decision.
struct Step: Sendable {
    enum Event: Sendable {
        case woken
        case forwardAnswered(ForwardAnswer.Verdict)
        case readAnswered(EntitlementAnswer)
        case readPostponed
        case overtaken
    }

    var event: Event
    var now: Timestamp
    var before: Pursuit
    var after: Pursuit
    var decision: Decision
    var reads: ReadSchedule

    var isForward: Bool {
        if case .forwardAnswered = event { true } else { false }
    }

    var isAccepted: Bool {
        if case .forwardAnswered(.accepted) = event { true } else { false }
    }

    var isRejected: Bool {
        if case .forwardAnswered(.rejected) = event { true } else { false }
    }

    /// Whether Cleeng refused the purchase after an earlier try that it may have accepted.
    var isRefusedRepeat: Bool { isRejected && before.forwards > 0 && before.entitledBefore != true }

    var isOvertaken: Bool {
        if case .overtaken = event { true } else { false }
    }

    var read: EntitlementAnswer? {
        if case .readAnswered(let answer) = event { answer } else { nil }
    }

    var hasReadFailed: Bool {
        switch read?.verdict {
        case .misconfigured, .tryAgain: true
        case .entitled, .notEntitled, nil: false
        }
    }

    var watchEnds: Timestamp {
        max(after.deadline, after.watchedSince ?? after.deadline) + reads.reconcileFor
    }

    /// The pause that the upstream requested, if any.
    var retryAfter: Duration? {
        switch event {
        case .forwardAnswered(.tryAgain(_, let retryAfter)): retryAfter
        case .readAnswered(let answer):
            if case .tryAgain(_, let retryAfter) = answer.verdict { retryAfter } else { nil }
        case .woken, .forwardAnswered, .readPostponed, .overtaken: nil
        }
    }
}
