import Formats
import RelayCore

/// One pursuit, with times in seconds since its purchase was accepted. Tests read like a log of events.
///
/// The purchase is accepted at second 0 with the deadline at second 60. Entitlements are read every 5 s and watched for
/// a day after the deadline.
struct Script {
    static let acceptedAt = Timestamp(seconds: 1_795_168_800)
    static let deadline = second(60)

    var pursuit: Pursuit
    var reads = ReadSchedule(interval: .seconds(5), reconcileFor: .seconds(86_400))
    var retries = RetrySchedule()

    static func second(_ second: Double) -> Timestamp {
        acceptedAt + .seconds(rounded: second)
    }

    init() {
        pursuit = Pursuit(acceptedAt: Self.acceptedAt, deadline: Self.deadline)
    }

    /// Cleeng accepted the purchase at `second`.
    static func watching(since second: Double) -> Script {
        var script = Script()
        _ = script.woken(at: second)
        _ = script.forwardAnswered(.accepted, at: second)
        return script
    }

    mutating func woken(at second: Double) -> Decision {
        pursuit.woken(at: Self.second(second), reads: reads)
    }

    mutating func baselineRead(_ verdict: EntitlementAnswer.Verdict, at second: Double) -> TimelineEvent {
        let now = Self.second(second)
        return pursuit.baselineRead(
            EntitlementAnswer(verdict, status: 200, latency: .milliseconds(40), observedAt: now), at: now)
    }

    mutating func forwardAnswered(
        _ verdict: ForwardAnswer.Verdict, status: Int? = nil, at second: Double, jitter: Double = 1
    ) -> Decision {
        pursuit.forwardAnswered(
            ForwardAnswer(verdict, status: status, latency: .milliseconds(120)), at: Self.second(second),
            retries: retries, jitter: jitter)
    }

    /// - Parameter sent: second at which the read was sent, if it took a while.
    mutating func readAnswered(
        _ verdict: EntitlementAnswer.Verdict, sent: Double? = nil, at second: Double
    ) -> Decision {
        pursuit.entitlementRead(
            EntitlementAnswer(
                verdict, status: 200, latency: .milliseconds(80), observedAt: Self.second(sent ?? second)),
            at: Self.second(second), reads: reads)
    }

    mutating func ownedByAnother(at second: Double) -> Decision { pursuit.ownedByAnother(at: Self.second(second)) }

    mutating func waits(until moment: Double, at second: Double) -> Decision {
        pursuit.waits(until: Self.second(moment), at: Self.second(second))
    }

    mutating func readPostponed(to allowed: Double, at second: Double) -> Decision {
        pursuit.readPostponed(to: Self.second(allowed), at: Self.second(second))
    }

    mutating func overtaken(at second: Double) -> Decision {
        pursuit.overtaken(at: Self.second(second))
    }

    /// An operator retries the purchase; does the same as the store.
    mutating func retriedByHand() {
        pursuit.phase = .forwarding
        pursuit.retryAt = nil
        pursuit.readAt = nil
    }
}

extension Decision {
    var kinds: [TimelineEvent.Kind] { events.map(\.kind) }

    /// The second until which the pursuit pauses; nil if the decision is another one.
    var restsUntil: Double? {
        guard case .rest(let moment) = next else { return nil }
        return (moment - Script.acceptedAt).seconds
    }
}

extension EntitlementAnswer.Verdict {
    static let yes = Self.entitled(expiresAt: nil, evidence: #"{"status":"active"}"#)
    static let notYet = Self.notEntitled(evidence: "{}")
    static let noAnswer = Self.tryAgain(why: "timeout", retryAfter: nil)
}
