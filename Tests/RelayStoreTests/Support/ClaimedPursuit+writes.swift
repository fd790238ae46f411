import Relay
import RelayCore

/// A worker's writes for a pursuit, in the form that the state machine makes.
extension ClaimedPursuit {
    static let schedule = ReadSchedule(interval: .seconds(5), reconcileFor: .seconds(86_400))

    /// Default time of a read: just after the purchase was accepted.
    var soon: Timestamp { pursuit.acceptedAt + .microseconds(100) }

    /// Cleeng accepted the purchase, and the next read said yes. Unless a test sets it, the read before the forward
    /// said no.
    ///
    /// - Parameter observedAt: time at which the read was sent.
    func granted(observedAt: Timestamp? = nil, expiresAt: Timestamp? = nil) -> PursuitWrite {
        let at = observedAt ?? soon
        var pursuit = pursuit
        pursuit.entitledBefore = pursuit.entitledBefore ?? false
        var events: [TimelineEvent] = []
        if pursuit.phase == .forwarding { events += forward(&pursuit, .accepted, at: at).events }
        let decision = pursuit.entitlementRead(
            EntitlementAnswer(
                .entitled(expiresAt: expiresAt, evidence: #"{"status":"active"}"#), status: 200, observedAt: at),
            at: at, reads: Self.schedule)
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: decision.change, events: events + decision.events, next: .finished)
    }

    func rejected(code: String = "invalid_receipt") -> PursuitWrite {
        var pursuit = pursuit
        let decision = forward(&pursuit, .rejected(code: code, message: "no"), at: soon)
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: decision.change, events: decision.events, next: .finished)
    }

    /// The deadline has passed; the pursuit continues at `until`.
    func timedOut(restingUntil until: Timestamp) -> PursuitWrite {
        var pursuit = pursuit
        let decision = pursuit.woken(at: pursuit.deadline, reads: Self.schedule)
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: decision.change, events: decision.events, next: .rest(until: until)
        )
    }

    func superseded() -> PursuitWrite {
        var pursuit = pursuit
        let decision = pursuit.overtaken(at: soon)
        let isWatched = pursuit.phase == .watching
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: decision.change, events: decision.events,
            next: isWatched ? .rest(until: soon) : .finished)
    }

    /// Cleeng could not be reached; the next try is at `until`.
    func failed(retryAt until: Timestamp) -> PursuitWrite {
        var pursuit = pursuit
        let decision = forward(&pursuit, .tryAgain(why: "503", retryAfter: nil), at: soon)
        pursuit.retryAt = until
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: nil, events: decision.events, next: .rest(until: until))
    }

    /// Cleeng accepted the purchase; the entitlement is read again at `until`.
    func watching(until: Timestamp) -> PursuitWrite {
        var pursuit = pursuit
        let decision = forward(&pursuit, .accepted, at: soon)
        pursuit.readAt = until
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: nil, events: decision.events, next: .rest(until: until))
    }

    private func forward(_ pursuit: inout Pursuit, _ verdict: ForwardAnswer.Verdict, at now: Timestamp) -> Decision {
        pursuit.forwardAnswered(
            ForwardAnswer(verdict, status: 200, latency: .milliseconds(40)), at: now, retries: RetrySchedule(),
            jitter: 0.5)
    }
}
