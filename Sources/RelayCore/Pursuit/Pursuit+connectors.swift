extension Pursuit {
    /// Reason of a purchase that belongs to another customer: only an explicit call moves it.
    static let ownershipUnchanged = "purchase_ownership_unchanged"
    /// As many tries that Cleeng took and then did not know of, and the entitlement is watched instead.
    private static let mostForgotten = 8

    /// Cleeng has said how far it is with a purchase that it took by a connector.
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
            // What it says was true at some moment after Cleeng took the purchase, and may be over by now where another
            // customer's request came later.
            settle(
                .init(
                    status: .granted, late: isLate(at: now), at: now, expiresAt: end(after: now),
                    namesEnd: false, evidence: evidence, observedAt: forwardedAt ?? answer.observedAt,
                    statedAt: answer.observedAt, isProven: true),
                detail: nil, into: &decision)
        case .refused(let result): refuse(result, at: now, into: &decision)
        case .grantedOther, .unclear:
            // Whether that is what was asked for is seen by the entitlement alone.
            watch(from: now, next: .read, into: &decision)
        case .running: readAgain(after: answer.observedAt, at: now, reads: reads, into: &decision)
        case .unknown where forwardedAt.map({ now < $0 + reads.interval * 3 }) == true:
            // Cleeng may need a moment to know what it has just taken.
            readAgain(after: answer.observedAt, at: now, reads: reads, into: &decision)
        case .unknown where forwards >= Self.mostForgotten: watch(from: now, next: .read, into: &decision)
        case .unknown:
            if let connector = phase.connector { phase = .registering(connector) }
            (synchronization, forwardedAt, readAt) = (nil, nil, nil)
            retry(after: nil, at: now, retries: retries, jitter: jitter, into: &decision)
        case .misconfigured, .tryAgain:
            readAgain(
                after: answer.observedAt, notBefore: answer.retryAfter ?? .zero, at: now, reads: reads, into: &decision)
        }
        return decision
    }

    /// A grant that came too late for the subscription: from now on the entitlement says how it stands, since the end of a
    /// synchronization never changes any more.
    public mutating func grantOutdated(at now: Timestamp, readAgainAt moment: Timestamp) -> Decision {
        if phase.isSynchronizing {
            phase = .watching
            synchronization = nil
        }
        return readPostponed(to: moment, at: now)
    }

    /// Signed end, unless it has passed: then the subscription has renewed, and its new end is unknown.
    func end(after now: Timestamp) -> Timestamp? { paidUntil.flatMap { $0 > now ? $0 : nil } }

    /// Cleeng has the purchase. Where it named a synchronization, that is followed.
    ///
    /// - Parameter found: whether that existed before.
    mutating func take(_ name: String?, found: Bool = false, at now: Timestamp, into decision: inout Decision) {
        let connector = phase.connector
        watch(from: now, next: .read, into: &decision)
        foundSynchronization = found
        guard let connector, let name else { return }
        phase = .synchronizing(connector)
        synchronization = name
    }

    /// A synchronization ended that this purchase found. Its end may be old, or another customer's, so the entitlement decides. A refusal
    /// for another reason than ownership leads to no transfer.
    ///
    /// - Parameter refusal: nil where it ended with access, or unclearly, or is not known any more.
    mutating func foundEnded(
        _ refusal: String?, observedAt: Timestamp, at now: Timestamp, into decision: inout Decision
    ) {
        if let refusal, fallsBack(from: refusal) { return fallBack(at: now, into: &decision) }
        foundSynchronization = refusal == nil || refusal == Self.ownershipUnchanged
        watch(from: observedAt, next: .read, into: &decision)
    }

    /// Whether a purchase whose customer is not entitled is to be transferred from another. The entitlement may follow the end of the
    /// synchronization, so it is read again after an interval. A transfer that finds a synchronization is requested again, but not for ever.
    ///
    /// - Parameter observedAt: when the entitlement read was sent.
    func asksForTransfer(at observedAt: Timestamp, reads: ReadSchedule) -> Bool {
        foundSynchronization && mayTransfer && (!transfers || forwards < Self.mostForgotten)
            && forwardedAt.map { observedAt >= $0 + reads.interval } == true
    }

    mutating func askForTransfer(by connector: Connector, at now: Timestamp, into decision: inout Decision) {
        transfers = true
        begin(.registering(connector), at: now, into: &decision)
    }

    /// No access. Where another customer has the purchase, and it goes by a connector, its transfer is asked for, once, and only of
    /// what may be genuine.
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

    /// The Google Play connector takes subscriptions alone. What it refuses may be a one-time product where Google has not said what it
    /// is: `/android/payment` takes either.
    var fallsBack: Bool { phase.connector == .google && !isConfirmed && !transfers }

    /// An expired purchase and another customer's are subscriptions for sure.
    private func fallsBack(from refusal: String) -> Bool {
        fallsBack && refusal != "received_expired_purchase" && refusal != Self.ownershipUnchanged
    }

    /// Nothing that was sent has an effect any more: all begins anew, as a receipt.
    mutating func fallBack(at now: Timestamp, into decision: inout Decision) {
        forwards = 0
        begin(.forwarding, at: now, into: &decision)
    }

    private mutating func begin(_ phase: Phase, at now: Timestamp, into decision: inout Decision) {
        self.phase = phase
        foundSynchronization = false
        (synchronization, refusal, forwardedAt, readAt, retryAt) = (nil, nil, nil, nil, nil)
        decision.next = .rest(until: now)
    }
}

extension SynchronizationAnswer {
    var retryAfter: Duration? {
        if case .tryAgain(_, let retryAfter) = verdict { retryAfter } else { nil }
    }

    /// The result of one that ended without access.
    var refusal: String? { if case .refused(let result) = verdict { result } else { nil } }

    /// Whether it has ended, with or without access. One that was found, and that Cleeng does not know, ended so long ago that it was removed.
    var isEnd: Bool {
        switch verdict {
        case .granted, .grantedOther, .unclear, .refused, .unknown: true
        case .running, .misconfigured, .tryAgain: false
        }
    }

    /// Whether Cleeng said how far it is.
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
