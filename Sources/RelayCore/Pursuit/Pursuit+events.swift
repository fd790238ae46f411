extension Pursuit {
    /// A worker has taken the lease.
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

    /// The read before the first forward: it decides nothing, it is only recorded.
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

    /// - Parameter isAnothers: of a duplicate: the relay knows that another customer has the subscription, or began the synchronization.
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
            // The refusal of a repeat does not say that an earlier try, without an answer, was not taken. Who had access
            // before shows nothing by having it now.
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
                    namesEnd: answer.namesEnds, evidence: evidence, observedAt: answer.observedAt),
                detail: nil, into: &decision)
            decision.next = .finished
        case .notEntitled:
            decision.events.append(event(.entitlementRead))
            expire(at: now, into: &decision)
            if let refusal {
                refuse(refusal, at: now, into: &decision)
            } else if asksForTransfer(at: answer.observedAt, reads: reads) {
                // Only this connector names a synchronization that exists.
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

    /// Applies an event of Cleeng's. The caller passes only purchases that Cleeng has taken, and only events about them.
    ///
    /// A grant names a customer and an offer, like an entitlement, and settles the purchase. A refusal by a connector names the
    /// synchronization, and settles too. Any other refusal names a customer and an offer, not the purchase. The entitlement is read at
    /// once, and a read that finds none rejects the purchase, unless the customer has several waiting purchases of the offer.
    public mutating func apply(_ word: UpstreamStatement, at now: Timestamp) -> Decision {
        if case .refused = word.verdict, phase.isSynchronizing, word.synchronization != synchronization {
            return Decision(next: rest(until: readAt, at: now))
        }
        var decision = Decision(next: .finished)
        decision.events.append(TimelineEvent(at: now, kind: .cleengEvent, detail: word.summary))
        expire(at: now, into: &decision)
        switch word.verdict {
        case .granted(let expiresAt, let evidence):
            settle(
                .init(
                    status: .granted, late: isLate(at: now), at: now, expiresAt: expiresAt ?? end(after: now),
                    namesEnd: false, evidence: evidence,
                    // It has no time of its own, and may come late or twice: what it tells may be of any moment since.
                    observedAt: min(word.saidAt, forwardedAt ?? word.saidAt), statedAt: word.saidAt,
                    isProven: word.isTransfer
                        || word.synchronization != nil && word.synchronization == synchronization
                            && !foundSynchronization
                ),
                detail: nil, into: &decision)
        case .refused(let reason) where foundSynchronization && phase.isSynchronizing:
            foundEnded(reason, observedAt: word.saidAt, at: now, into: &decision)
        case .refused(let reason) where phase.isSynchronizing: refuse(reason, at: now, into: &decision)
        case .refused(let reason):
            if !word.isAmbiguous { refusal = reason }
            readAt = now
            decision.next = rest(until: readAt, at: now)
        }
        return decision
    }

    /// Another read of this customer was under way or too recent: the right to read comes at `allowedAt`.
    public mutating func readPostponed(to allowedAt: Timestamp, at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        readAt = allowedAt
        expire(at: now, into: &decision)
        decision.next = rest(until: readAt, at: now)
        return decision
    }

    /// Another customer has the subscription, and this purchase does not take it from them: it is not sent.
    public mutating func ownedByAnother(at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        expire(at: now, into: &decision)
        settle(
            .init(status: .rejected, reason: "owned_by_another", late: isLate(at: now), at: now), detail: nil,
            into: &decision)
        return decision
    }

    /// Another customer may be about to get the subscription: this purchase waits until that is known.
    public mutating func waits(until moment: Timestamp, at now: Timestamp) -> Decision {
        var decision = Decision(next: .finished)
        retryAt = moment
        expire(at: now, into: &decision)
        decision.next = rest(until: retryAt, at: now)
        return decision
    }

    /// A newer request for the same subscription goes first or has gone: this one is never sent again. Where a try to send
    /// it may have reached Cleeng although no answer came, Cleeng may still grant it: that is watched for.
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

    /// Until the next step, or until the deadline if that has to be written before.
    func rest(until moment: Timestamp?, at now: Timestamp) -> Decision.Next {
        let moment = moment ?? now
        return .rest(until: status == .pending ? min(moment, deadline) : moment)
    }

    /// After the deadline, or after the app has read before it that it had been overtaken.
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

    mutating func watch(from now: Timestamp, next: Decision.Next, into decision: inout Decision) {
        phase = .watching
        (synchronization, refusal) = (nil, nil)
        forwardedAt = now
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

    /// Reads once more at the schedule's next moment. Where there is none, the watch has ended.
    ///
    /// - Parameter pause: of a read that said nothing, on which a watch does not end; nil where it said something.
    mutating func readAgain(
        after last: Timestamp, notBefore pause: Duration? = nil, at now: Timestamp, reads: ReadSchedule,
        into decision: inout Decision
    ) {
        let inTime = reads.next(after: last, watchedSince: max(deadline, forwardedAt ?? deadline))
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
