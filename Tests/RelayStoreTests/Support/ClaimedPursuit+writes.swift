import RelayCore
import RelayStore

/// What a worker would write of a pursuit, made as the state machine makes it.
extension ClaimedPursuit {
    static let schedule = ReadSchedule(interval: .seconds(5), reconcileFor: .seconds(86_400))

    /// The moment that a read is sent, where a test has no other in mind: just after the pursuit was accepted.
    var soon: Timestamp { pursuit.acceptedAt + .microseconds(100) }

    /// Cleeng took it, and the read after that said yes. Where no test says otherwise, the read before it said no.
    ///
    /// - Parameter observedAt: when the read was sent.
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

    /// The deadline has come; the purchase goes on, next at `until`.
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

    /// Cleeng could not be reached: tried again at `until`.
    func failed(retryAt until: Timestamp) -> PursuitWrite {
        var pursuit = pursuit
        let decision = forward(&pursuit, .tryAgain(why: "503", retryAfter: nil), at: soon)
        pursuit.retryAt = until
        return PursuitWrite(
            claimed: self, pursuit: pursuit, change: nil, events: decision.events, next: .rest(until: until))
    }

    /// Cleeng took it; the entitlement is read again at `until`.
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
