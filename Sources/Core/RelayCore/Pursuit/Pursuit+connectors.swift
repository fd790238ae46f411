extension Pursuit {
    /// Reason of a purchase that belongs to another customer. Only an explicit transfer request moves it.
    static let ownershipUnchanged = "purchase_ownership_unchanged"
    /// Number of registrations that Cleeng accepted and then did not know. After that, the entitlement is watched
    /// instead.
    private static let mostForgotten = 8

    /// Applies Cleeng's answer about a purchase that it accepted through a connector.
    public mutating func synchronizationRead(
        _ answer: SynchronizationAnswer, at now: Timestamp, reads: ReadSchedule, retries: RetrySchedule, jitter: Double
    ) -> Decision {
        var decision = Decision(next: .finished)
        decision.events.append(
            TimelineEvent(
                at: now, kind: answer.isRead ? .synchronizationRead : .synchronizationReadFailed,
                upstreamStatus: answer.status, latency: answer.latency, detail: answer.summary))
        expire(at: now, into: &decision)
        if foundSynchronization, answer.isEnd {
            foundEnded(answer.refusal, observedAt: answer.observedAt, at: now, into: &decision)
            return decision
        }
        switch answer.verdict {
        case .granted(let evidence):
            // The result was true at some moment after Cleeng accepted the purchase. It may be outdated if another
            // customer's request came later.
            settle(
                .init(
                    status: .granted, late: isLate(at: now), at: now, expiresAt: end(after: now),
                    nilMeansEndless: false, evidence: evidence, observedAt: watchedSince ?? answer.observedAt,
                    statedAt: answer.observedAt, isProven: true),
                detail: nil, into: &decision)
        case .refused(let result): refuse(result, at: now, into: &decision)
        case .grantedOther, .unclear:
            // Only an entitlement read shows whether the purchased offer was granted.
            watch(from: now, next: .read, into: &decision)
        case .running: readAgain(after: answer.observedAt, at: now, reads: reads, into: &decision)
        case .unknown where watchedSince.map({ now < $0 + reads.interval * 3 }) == true:
            // Cleeng may need a moment before it knows what it has just accepted.
            readAgain(after: answer.observedAt, at: now, reads: reads, into: &decision)
        case .unknown where forwards >= Self.mostForgotten: watch(from: now, next: .read, into: &decision)
        case .unknown:
            if let connector = phase.connector { phase = .registering(connector) }
            (synchronization, watchedSince, readAt) = (nil, nil, nil)
            retry(after: nil, at: now, retries: retries, jitter: jitter, into: &decision)
        case .misconfigured, .tryAgain:
            readAgain(
                after: answer.observedAt, notBefore: answer.retryAfter ?? .zero, at: now, reads: reads, into: &decision)
        }
        return decision
    }

    /// Postpones a grant that is too old to take the subscription. From now on entitlement reads decide, since a
    /// finished synchronization never changes.
    public mutating func grantOutdated(at now: Timestamp, readAgainAt moment: Timestamp) -> Decision {
        if phase.isSynchronizing {
            phase = .watching
            synchronization = nil
        }
        return readPostponed(to: moment, at: now)
    }

    /// Signed end of the paid period. Nil if it has passed: the subscription has renewed, and its new end is unknown.
    func end(after now: Timestamp) -> Timestamp? { paidUntil.flatMap { $0 > now ? $0 : nil } }

    /// Handles the end of a synchronization that existed before the request. The end may be old or another customer's,
    /// so the entitlement decides. A refusal for a reason other than ownership leads to no transfer.
    ///
    /// - Parameter refusal: nil if it ended with access, ended unclearly, or is no longer known.
    mutating func foundEnded(
        _ refusal: String?, observedAt: Timestamp, at now: Timestamp, into decision: inout Decision
    ) {
        if let refusal, fallsBack(from: refusal) { return fallBack(at: now, into: &decision) }
        foundSynchronization = refusal == nil || refusal == Self.ownershipUnchanged
        watch(from: observedAt, next: .read, into: &decision)
    }

    /// Whether to request the transfer of a purchase whose customer is not entitled. The entitlement may follow the end
    /// of the synchronization, so an interval must have passed. A transfer that finds an existing synchronization is
    /// requested again, a limited number of times.
    ///
    /// - Parameter observedAt: when the entitlement read was sent.
    func asksForTransfer(at observedAt: Timestamp, reads: ReadSchedule) -> Bool {
        foundSynchronization && mayTransfer && (!transfers || forwards < Self.mostForgotten)
            && watchedSince.map { observedAt >= $0 + reads.interval } == true
    }

    mutating func askForTransfer(by connector: Connector, at now: Timestamp, into decision: inout Decision) {
        transfers = true
        begin(.registering(connector), at: now, into: &decision)
    }

    /// Ends a purchase without access. If it uses a connector and another customer has it, its transfer is requested
    /// once, but only if the purchase may be genuine.
    mutating func refuse(_ reason: String, at now: Timestamp, into decision: inout Decision) {
        if fallsBack(from: reason) { return fallBack(at: now, into: &decision) }
        let connector = reason == Self.ownershipUnchanged && !transfers ? phase.connector : nil
        guard let connector, mayTransfer else {
            return settle(
                .init(status: .rejected, reason: reason, late: isLate(at: now), at: now),
                detail: connector != nil
                    ? "it is not genuine, or may not be transferred: no transfer is asked for" : nil,
                into: &decision)
        }
        askForTransfer(by: connector, at: now, into: &decision)
    }

    /// Whether a refused purchase is sent to `/android/payment` instead. The Google Play connector accepts only
    /// subscriptions. A purchase whose kind Google has not confirmed may be a one-time product, and `/android/payment`
    /// accepts both.
    var fallsBack: Bool { phase.connector == .google && !isConfirmed && !transfers }

    /// Excludes refusals that occur only for subscriptions: an expired purchase, and another customer's.
    private func fallsBack(from refusal: String) -> Bool {
        fallsBack && refusal != "received_expired_purchase" && refusal != Self.ownershipUnchanged
    }

    /// Handles a customer number that Cleeng names another customer for, or none: nothing may be sent under it. The
    /// purchase is sent as a receipt instead. If it may not be, it is rejected, unless a try may have reached Cleeng;
    /// then a grant is still watched for.
    public mutating func numberIsAnothers(mayFallBack: Bool, at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        expire(at: now, into: &decision)
        decision.events.append(
            TimelineEvent(
                at: now, kind: .forwardFailed, detail: "the customer number is not this customer's at Cleeng"))
        if mayFallBack {
            fallBack(at: now, into: &decision)
        } else if forwards > 0 {
            watch(from: now, next: .rest(until: now), into: &decision)
        } else {
            settle(
                .init(status: .rejected, reason: "another_customer", late: isLate(at: now), at: now), detail: nil,
                into: &decision)
        }
        return decision
    }

    /// Delays a purchase that may not be sent before Cleeng, or its store, has answered about it: for an interval and,
    /// after the deadline, for a minute.
    ///
    /// - Parameters:
    ///   - what: what could not be asked, and why.
    ///   - pause: pause that the server asks for.
    public mutating func isUnconfirmed(
        _ what: String, notBefore pause: Duration? = nil, at now: Timestamp, reads: ReadSchedule
    ) -> Decision {
        let isPending = status == .pending
        let delay = isPending ? reads.interval : max(reads.interval, .seconds(60))
        var decision = waits(until: now + max(delay, pause ?? .zero), at: now)
        guard isPending else { return decision }
        decision.events.insert(TimelineEvent(at: now, kind: .forwardFailed, detail: what), at: 0)
        return decision
    }

    /// Starts over as a receipt. Nothing that was sent before has an effect any more.
    mutating func fallBack(at now: Timestamp, into decision: inout Decision) {
        forwards = 0
        begin(.forwarding, at: now, into: &decision)
    }

    private mutating func begin(_ phase: Phase, at now: Timestamp, into decision: inout Decision) {
        self.phase = phase
        foundSynchronization = false
        (synchronization, refusal, watchedSince, readAt, retryAt) = (nil, nil, nil, nil, nil)
        decision.next = .rest(until: now)
    }
}

extension SynchronizationAnswer {
    var retryAfter: Duration? {
        if case .tryAgain(_, let retryAfter) = verdict { retryAfter } else { nil }
    }

    /// Result of a synchronization that ended without access; nil for any other answer.
    var refusal: String? { if case .refused(let result) = verdict { result } else { nil } }

    /// Whether it ended, with or without access. If Cleeng no longer knows an existing synchronization, it ended long
    /// ago and was removed.
    var isEnd: Bool {
        switch verdict {
        case .granted, .grantedOther, .unclear, .refused, .unknown: true
        case .running, .misconfigured, .tryAgain: false
        }
    }

    /// Whether Cleeng reported the state of the synchronization.
    var isRead: Bool {
        switch verdict {
        case .running, .granted, .grantedOther, .unclear, .refused: true
        case .unknown, .misconfigured, .tryAgain: false
        }
    }

    var summary: String {
        switch verdict {
        case .running(let status): status
        case .granted: "access granted"
        case .grantedOther(let offer): "access granted to \(offer)"
        case .unclear: "finalized, and not said whether with access"
        case .refused(let result): result
        case .unknown: "Cleeng does not know it"
        case .misconfigured(let message): "our configuration: \(message ?? "refused")"
        case .tryAgain(let why, _): why
        }
    }
}
