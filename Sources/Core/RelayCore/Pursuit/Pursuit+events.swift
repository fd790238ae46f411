extension Pursuit {
    /// Decides the next step after a worker has claimed the pursuit.
    public mutating func woken(at now: Timestamp, reads: ReadSchedule) -> Decision {
        var decision = Decision(next: .finished)
        expire(at: now, into: &decision)
        switch phase {
        case .parked:
            decision.next = .rest(until: now + ReadSchedule.longestGap)
        case .forwarding, .registering:
            decision.next = due(retryAt, at: now) ? .forward : rest(until: retryAt, at: now)
        case .watching, .synchronizing:
            decision.next = due(readAt, at: now) ? .read : rest(until: readAt, at: now)
        }
        return decision
    }

    /// Records the entitlement read before the first forward. It decides nothing.
    public mutating func baselineRead(_ answer: EntitlementAnswer, at now: Timestamp) -> TimelineEvent {
        switch answer.verdict {
        case .entitled: entitledBefore = true
        case .notEntitled: entitledBefore = false
        case .misconfigured, .tryAgain: break
        }
        return TimelineEvent(
            at: now, kind: .baselineRead, upstreamStatus: answer.status, latency: answer.latency, detail: answer.summary
        )
    }

    /// - Parameter isAnothers: for a duplicate, whether the relay knows that another customer has the subscription or
    ///   started the synchronization.
    public mutating func forwardAnswered(
        _ answer: ForwardAnswer, isAnothers: Bool = false, at now: Timestamp, retries: RetrySchedule, jitter: Double
    ) -> Decision {
        var decision = Decision(next: .finished)
        forwards += 1
        func event(_ kind: TimelineEvent.Kind, _ detail: String? = nil) -> TimelineEvent {
            TimelineEvent(at: now, kind: kind, upstreamStatus: answer.status, latency: answer.latency, detail: detail)
        }
        switch answer.verdict {
        case .accepted:
            decision.events.append(event(.forwarded, transfers ? "transfer" : nil))
            expire(at: now, into: &decision)
            take(answer.synchronization, at: now, into: &decision)
        case .duplicate:
            let moves = isAnothers && mayTransfer && !transfers
            decision.events.append(event(.forwarded, moves ? "another customer has it" : "registered before"))
            expire(at: now, into: &decision)
            if moves {
                refuse(Self.ownershipUnchanged, at: now, into: &decision)
            } else {
                take(answer.synchronization, found: true, at: now, into: &decision)
            }
        case .rejected where fallsBack:
            decision.events.append(event(.forwarded, "the connector does not take it"))
            expire(at: now, into: &decision)
            fallBack(at: now, into: &decision)
        case .rejected(let code, let message):
            let words = [code, message].compactMap { $0 }
            let detail = words.isEmpty ? nil : words.joined(separator: ": ")
            decision.events.append(event(.forwarded, detail))
            expire(at: now, into: &decision)
            settle(
                .init(
                    status: .rejected, reason: code ?? message ?? "rejected", late: isLate(at: now), at: now,
                    evidence: nil),
                detail: detail, into: &decision)
            decision.next = .finished
            // An earlier try without an answer may have reached Cleeng, although this repeat was refused. Access now
            // proves nothing if the customer had access before.
            if forwards > 1, entitledBefore != true { watch(from: now, next: .read, into: &decision) }
        case .misconfigured(let message):
            decision.events.append(event(.forwardFailed, "our configuration: \(message ?? "refused")"))
            retry(after: nil, at: now, retries: retries, jitter: jitter, into: &decision)
        case .tryAgain(let why, let retryAfter):
            decision.events.append(event(.forwardFailed, why))
            retry(after: retryAfter, at: now, retries: retries, jitter: jitter, into: &decision)
        }
        return decision
    }

    public mutating func entitlementRead(
        _ answer: EntitlementAnswer, at now: Timestamp, reads: ReadSchedule
    ) -> Decision {
        var decision = Decision(next: .finished)
        func event(_ kind: TimelineEvent.Kind) -> TimelineEvent {
            TimelineEvent(
                at: now, kind: kind, upstreamStatus: answer.status, latency: answer.latency, detail: answer.summary)
        }
        switch answer.verdict {
        case .entitled(let expiresAt, let evidence):
            decision.events.append(event(.entitlementRead))
            expire(at: now, into: &decision)
            settle(
                .init(
                    status: .granted, late: isLate(at: now), at: now, expiresAt: expiresAt,
                    nilMeansEndless: answer.namesEnds, evidence: evidence, observedAt: answer.observedAt),
                detail: nil, into: &decision)
            decision.next = .finished
        case .notEntitled:
            decision.events.append(event(.entitlementRead))
            expire(at: now, into: &decision)
            if let refusal {
                refuse(refusal, at: now, into: &decision)
            } else if asksForTransfer(at: answer.observedAt, reads: reads) {
                // Only the Google Play connector reports existing synchronizations.
                askForTransfer(by: .google, at: now, into: &decision)
            } else {
                readAgain(after: answer.observedAt, at: now, reads: reads, into: &decision)
            }
        case .misconfigured, .tryAgain:
            decision.events.append(event(.entitlementReadFailed))
            expire(at: now, into: &decision)
            readAgain(
                after: answer.observedAt, notBefore: answer.retryAfter ?? .zero, at: now, reads: reads, into: &decision)
        }
        return decision
    }

    /// Applies an event of Cleeng's. Callers pass only purchases that Cleeng has accepted, and only events about them.
    ///
    /// A grant names a customer and an offer, like an entitlement, and settles the purchase. A refusal by a connector
    /// names the synchronization, and settles it too. Any other refusal names a customer and an offer, but no purchase.
    /// Then the entitlement is read at once. A read without the entitlement rejects the purchase, unless the customer
    /// has several waiting purchases of the offer.
    public mutating func apply(_ statement: UpstreamStatement, at now: Timestamp) -> Decision {
        if case .refused = statement.verdict, phase.isSynchronizing, statement.synchronization != synchronization {
            return Decision(next: rest(until: readAt, at: now))
        }
        var decision = Decision(next: .finished)
        decision.events.append(TimelineEvent(at: now, kind: .cleengEvent, detail: statement.summary))
        expire(at: now, into: &decision)
        switch statement.verdict {
        case .granted(let expiresAt, let evidence):
            settle(
                .init(
                    status: .granted, late: isLate(at: now), at: now, expiresAt: expiresAt ?? end(after: now),
                    nilMeansEndless: false, evidence: evidence,
                    // The event has no time of its own, and may be late or repeated: its content may date from any
                    // moment since the forward.
                    observedAt: min(statement.saidAt, watchedSince ?? statement.saidAt), statedAt: statement.saidAt,
                    isProven: statement.isTransfer
                        || statement.synchronization != nil && statement.synchronization == synchronization
                            && !foundSynchronization
                ),
                detail: nil, into: &decision)
        case .refused(let reason) where foundSynchronization && phase.isSynchronizing:
            foundEnded(reason, observedAt: statement.saidAt, at: now, into: &decision)
        case .refused(let reason) where phase.isSynchronizing: refuse(reason, at: now, into: &decision)
        case .refused(let reason):
            if !statement.isAmbiguous { refusal = reason }
            readAt = now
            decision.next = rest(until: readAt, at: now)
        }
        return decision
    }

    /// Postpones the read to `allowedAt`: another read of this customer was under way or too recent.
    public mutating func readPostponed(to allowedAt: Timestamp, at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        readAt = allowedAt
        expire(at: now, into: &decision)
        decision.next = rest(until: readAt, at: now)
        return decision
    }

    /// Ends the forwards of a purchase: another customer has the subscription, and this purchase may not take it. It is
    /// rejected, unless a try may have reached Cleeng; then a grant is still watched for.
    public mutating func ownedByAnother(at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        expire(at: now, into: &decision)
        guard forwards == 0 else {
            watch(from: now, next: .rest(until: now), into: &decision)
            return decision
        }
        settle(
            .init(status: .rejected, reason: "owned_by_another", late: isLate(at: now), at: now), detail: nil,
            into: &decision)
        return decision
    }

    /// Delays the forward until it is known whether another customer gets the subscription.
    public mutating func waits(until moment: Timestamp, at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        retryAt = moment
        expire(at: now, into: &decision)
        decision.next = rest(until: retryAt, at: now)
        return decision
    }

    /// Ends the forwards of a purchase, because a newer request for the same subscription goes first or was sent. An
    /// earlier unanswered try may have reached Cleeng, so a grant is still watched for.
    public mutating func overtaken(at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        expire(at: now, into: &decision)
        if status == .pending || status == .timedOut {
            status = .timedOut
            decision.change = .init(status: .timedOut, reason: "superseded", at: min(now, deadline))
        }
        decision.events.append(
            TimelineEvent(at: now, kind: .superseded, detail: "a newer request for this subscription goes first"))
        if forwards > 0 { watch(from: now, next: .rest(until: now), into: &decision) }
        return decision
    }
}

extension Pursuit {
    func due(_ moment: Timestamp?, at now: Timestamp) -> Bool {
        moment.map { $0 <= now } ?? true
    }

    /// Rest until the next step, or until the deadline if that must be written earlier.
    func rest(until moment: Timestamp?, at now: Timestamp) -> Decision.Next {
        let moment = moment ?? now
        return .rest(until: status == .pending ? min(moment, deadline) : moment)
    }

    /// Whether a result is late: after the deadline, or after the app read that the purchase was overtaken.
    func isLate(at now: Timestamp) -> Bool { now >= deadline || status == .timedOut }

    mutating func expire(at now: Timestamp, into decision: inout Decision) {
        guard status == .pending, now >= deadline else { return }
        settle(.init(status: .timedOut, at: deadline), detail: nil, into: &decision)
    }

    mutating func settle(_ change: Decision.Change, detail: String?, into decision: inout Decision) {
        status = change.status
        decision.change = change
        decision.events.append(
            TimelineEvent(at: change.at, kind: TimelineEvent.Kind(settling: change.status), detail: detail))
    }

    /// Records that Cleeng has the purchase. If Cleeng named a synchronization, the pursuit follows it.
    ///
    /// - Parameter found: whether the synchronization existed before this request.
    mutating func take(_ name: String?, found: Bool = false, at now: Timestamp, into decision: inout Decision) {
        let connector = phase.connector
        watch(from: now, next: .read, into: &decision)
        foundSynchronization = found
        guard let connector, let name else { return }
        phase = .synchronizing(connector)
        synchronization = name
    }

    mutating func watch(from now: Timestamp, next: Decision.Next, into decision: inout Decision) {
        phase = .watching
        (synchronization, refusal) = (nil, nil)
        watchedSince = now
        retryAt = nil
        readAt = nil
        decision.next = next
    }

    mutating func retry(
        after retryAfter: Duration?, at now: Timestamp, retries: RetrySchedule, jitter: Double,
        into decision: inout Decision
    ) {
        expire(at: now, into: &decision)
        retryAt = now + retries.delay(failures: forwards, retryAfter: retryAfter, jitter: jitter)
        decision.next = rest(until: retryAt, at: now)
    }

    /// Schedules the next entitlement read; the pursuit finishes if the schedule has none.
    ///
    /// - Parameter pause: wait after a read without a result, which never ends the watch; nil if the read had a result.
    mutating func readAgain(
        after last: Timestamp, notBefore pause: Duration? = nil, at now: Timestamp, reads: ReadSchedule,
        into decision: inout Decision
    ) {
        let inTime = reads.next(after: last, denseUntil: max(deadline, watchedSince ?? deadline))
        guard let next = inTime ?? pause.map({ _ in now + ReadSchedule.longestGap }) else {
            decision.next = .finished
            return
        }
        readAt = max(next, now + (pause ?? .zero))
        decision.next = rest(until: readAt, at: now)
    }
}

extension TimelineEvent.Kind {
    init(settling status: ValidationStatus) {
        switch status {
        case .granted: self = .granted
        case .rejected: self = .rejected
        case .timedOut, .pending: self = .timedOut
        case .transferred: self = .transferred
        case .revoked: self = .revoked
        }
    }
}

extension EntitlementAnswer {
    var retryAfter: Duration? {
        if case .tryAgain(_, let retryAfter) = verdict { retryAfter } else { nil }
    }

    var summary: String {
        switch verdict {
        case .entitled: "entitled"
        case .notEntitled: "not entitled"
        case .misconfigured(let message): "our configuration: \(message ?? "refused")"
        case .tryAgain(let why, _): why
        }
    }
}
