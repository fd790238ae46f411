extension Pursuit {
    /// Of a purchase that another customer has: it takes an explicit call to move it.
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

    /// Of what was signed, unless that is over: then it has been renewed, and nobody has said until when.
    func end(after now: Timestamp) -> Timestamp? { paidUntil.flatMap { $0 > now ? $0 : nil } }

    /// A synchronization ended that this purchase did not begin: a registration before named it. It may be old, or another
    /// customer's, so the entitlement decides.
    public mutating func existingSynchronizationRead(
        _ answer: SynchronizationAnswer, _ entitlement: EntitlementAnswer, at now: Timestamp, reads: ReadSchedule
    ) -> Decision {
        let read = TimelineEvent(
            at: now, kind: .synchronizationRead, upstreamStatus: answer.status, latency: answer.latency,
            detail: "\(answer.summary); begun before")
        guard case .notEntitled = entitlement.verdict else {
            var decision = entitlementRead(entitlement, at: now, reads: reads)
            decision.events.insert(read, at: 0)
            return decision
        }
        var decision = Decision(next: .finished)
        decision.events += [
            read,
            TimelineEvent(
                at: now, kind: .entitlementRead, upstreamStatus: entitlement.status, latency: entitlement.latency,
                detail: entitlement.summary),
        ]
        expire(at: now, into: &decision)
        if case .refused(let result) = answer.verdict {
            refuse(result, at: now, into: &decision)
        } else if transfers {
            // The entitlement may follow in a moment.
            watch(from: now, next: .rest(until: now + reads.interval), into: &decision)
        } else {
            refuse(Self.ownershipUnchanged, at: now, into: &decision)
        }
        return decision
    }

    /// Cleeng has the purchase. Where it named a synchronization, that is followed.
    mutating func take(_ name: String?, at now: Timestamp, into decision: inout Decision) {
        let connector = phase.connector
        watch(from: now, next: .read, into: &decision)
        guard let connector, let name else { return }
        phase = .synchronizing(connector)
        synchronization = name
    }

    /// No access. Where another customer has the purchase, and it goes by a connector, its transfer is asked for, once, and only of
    /// what may be genuine.
    mutating func refuse(_ reason: String, at now: Timestamp, into decision: inout Decision) {
        if reason.hasSuffix("_not_found"), fallsBack { return fallBack(at: now, into: &decision) }
        let connector = reason == Self.ownershipUnchanged && !transfers ? phase.connector : nil
        guard let connector, mayTransfer else {
            return settle(
                .init(status: .rejected, reason: reason, late: isLate(at: now), at: now),
                detail: connector != nil
                    ? "it is not genuine, or may not be transferred: no transfer is asked for" : nil,
                into: &decision)
        }
        phase = .registering(connector)
        transfers = true
        (synchronization, forwardedAt, readAt, retryAt) = (nil, nil, nil, nil)
        decision.next = .rest(until: now)
    }

    /// The Google Play connector takes subscriptions alone. What it refuses may be a one-time product where Google has not said what it
    /// is: `/android/payment` takes either.
    var fallsBack: Bool { phase.connector == .google && !isConfirmed && !transfers }

    /// Nothing that was sent has an effect any more: all begins anew, as a receipt.
    mutating func fallBack(at now: Timestamp, into decision: inout Decision) {
        phase = .forwarding
        forwards = 0
        (synchronization, forwardedAt, readAt, retryAt) = (nil, nil, nil, nil)
        decision.next = .rest(until: now)
    }
}

extension SynchronizationAnswer {
    var retryAfter: Duration? {
        if case .tryAgain(_, let retryAfter) = verdict { retryAfter } else { nil }
    }

    /// Whether it has ended, with or without access.
    public var isEnd: Bool {
        switch verdict {
        case .granted, .refused: true
        case .running, .grantedOther, .unclear, .unknown, .misconfigured, .tryAgain: false
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
