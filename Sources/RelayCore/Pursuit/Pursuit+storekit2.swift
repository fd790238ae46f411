extension Pursuit {
    /// Of a purchase that another customer has: it takes an explicit call to move it.
    private static let ownershipUnchanged = "purchase_ownership_unchanged"
    /// As many tries that Cleeng took and then did not know of, and the entitlement is watched instead.
    private static let mostForgotten = 8

    /// Cleeng has said how far it is with a purchase that it took by StoreKit 2.
    public mutating func synchronizationRead(
        _ answer: SynchronizationAnswer, at now: Timestamp, reads: ReadSchedule, retries: RetrySchedule, jitter: Double
    ) -> Decision {
        var decision = Decision(next: .finished)
        decision.events.append(
            TimelineEvent(
                at: now, kind: answer.isRead ? .synchronizationRead : .synchronizationReadFailed,
                upstreamStatus: answer.status, latency: answer.latency, detail: answer.summary))
        expire(at: now, into: &decision)
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
            phase = .registering
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
        if phase == .synchronizing {
            phase = .watching
            synchronization = nil
        }
        return readPostponed(to: moment, at: now)
    }

    /// Of what was signed, unless that is over: then it has been renewed, and nobody has said until when.
    func end(after now: Timestamp) -> Timestamp? { paidUntil.flatMap { $0 > now ? $0 : nil } }

    mutating func follow(_ name: String) {
        phase = .synchronizing
        synchronization = name
    }

    /// No access. Where it is because another customer has the purchase, and it goes by StoreKit 2, its transfer is asked for,
    /// once, and only of what may be genuine.
    mutating func refuse(_ reason: String, at now: Timestamp, into decision: inout Decision) {
        let isElsewhere = phase == .synchronizing && reason == Self.ownershipUnchanged && !transfers
        guard isElsewhere, mayTransfer else {
            return settle(
                .init(status: .rejected, reason: reason, late: isLate(at: now), at: now),
                detail: isElsewhere ? "it is not genuine, or may not be transferred: no transfer is asked for" : nil,
                into: &decision)
        }
        phase = .registering
        transfers = true
        (synchronization, forwardedAt, readAt, retryAt) = (nil, nil, nil, nil)
        decision.next = .rest(until: now)
    }
}

extension SynchronizationAnswer {
    var retryAfter: Duration? {
        if case .tryAgain(_, let retryAfter) = verdict { retryAfter } else { nil }
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
