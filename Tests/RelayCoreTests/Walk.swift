import Formats
import RelayCore
import TestSupport

/// A random life of one pursuit. The same seed gives the same life.
struct Walk: Sendable {
    let seed: UInt64
    private(set) var steps: [Step] = []

    private var generator: SeededGenerator
    private var pursuit: Pursuit
    private var now = Script.acceptedAt
    private let reads: ReadSchedule
    private let retries = RetrySchedule()

    private init(seed: UInt64) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed)
        let timeout: Double = [0.1, 5, 60, 60, 60, 3600].randomElement(using: &generator) ?? 60.0
        let interval: Double = [0.05, 1, 5, 5, 300].randomElement(using: &generator) ?? 5
        let watch: Int = [0, 60, 3600, 86_400].randomElement(using: &generator) ?? 3600
        reads = ReadSchedule(interval: .seconds(rounded: interval), reconcileFor: .seconds(watch))
        pursuit = Pursuit(
            acceptedAt: Script.acceptedAt, deadline: Script.acceptedAt + .seconds(rounded: timeout))
        self.generator = generator
    }

    /// A worker executes the pursuit's decisions, while external systems fail, delay and interfere.
    static let obedient: [Walk] = (0..<600 as Range<UInt64>).map { seed in
        var walk = Walk(seed: seed)
        walk.obey()
        return walk
    }

    /// Any event at any time, expected or not.
    static let wild: [Walk] = (1_000..<1_600 as Range<UInt64>).map { seed in
        var walk = Walk(seed: seed)
        walk.runWild()
        return walk
    }

    private mutating func obey() {
        var handRetries = 0
        var claimed = pursuit
        pass(upTo: chance(10) ? 7_200 : 0.5)
        var next = wake()
        while steps.count < 300 {
            switch next {
            case .forward where chance(3):
                // The process was killed without a write, so the lease must expire first.
                pursuit = claimed
                pass(upTo: 12)
                next = wake()
            case .forward where chance(3):
                pass(upTo: chance(50) ? 100 : 0.1)
                next = overtake()
            case .forward:
                pass(upTo: 20)
                next = answerForward()
            case .read where chance(15):
                next = postpone()
            case .read:
                let sent = now
                pass(upTo: chance(10) ? 20 : 0.5)
                next = answerRead(sent: sent)
            case .rest(let moment) where moment < now:
                return
            case .rest where pursuit.phase == .forwarding && chance(2):
                pass(upTo: chance(50) ? 100 : 0.1)
                next = overtake()
            case .rest(let moment):
                now = max(now, moment)
                pass(upTo: chance(2) ? 20_000 : 0.3)
                claimed = pursuit
                next = wake()
            case .finished:
                guard pursuit.status.allowsRetry, handRetries < 2, chance(30) else { return }
                handRetries += 1
                pursuit.phase = .forwarding
                pursuit.retryAt = nil
                pursuit.readAt = nil
                pass(upTo: 40_000)
                claimed = pursuit
                next = wake()
            }
        }
    }

    private mutating func runWild() {
        while steps.count < 60 {
            pass(upTo: chance(5) ? 10_000 : 10)
            let next: Decision.Next
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<6: next = wake()
            case 6..<11: next = answerForward()
            case 11..<16:
                let sent = now
                if chance(50) { pass(upTo: 20) }
                next = answerRead(sent: sent)
            case 16..<19: next = postpone()
            default: next = overtake()
            }
            if next == .finished { return }
        }
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &generator) < percent
    }

    private mutating func pass(upTo seconds: Double) {
        now = now + .microseconds(Int64.random(in: 1...Int64(seconds * 1_000_000), using: &generator))
    }

    private mutating func retryAfter() -> Duration? {
        chance(30) ? .seconds(Int.random(in: 1...3600, using: &generator)) : nil
    }

    private mutating func note(_ event: Step.Event, _ before: Pursuit, _ decision: Decision) -> Decision.Next {
        steps.append(
            Step(event: event, now: now, before: before, after: pursuit, decision: decision, reads: reads))
        return decision.next
    }

    private mutating func wake() -> Decision.Next {
        let before = pursuit
        let decision = pursuit.woken(at: now, reads: reads)
        return note(.woken, before, decision)
    }

    private mutating func answerForward() -> Decision.Next {
        let verdict: ForwardAnswer.Verdict
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<30: verdict = .accepted
        case 30..<38: verdict = .rejected(code: chance(50) ? "E1" : nil, message: chance(50) ? "refused" : nil)
        case 38..<60: verdict = .misconfigured(message: chance(50) ? "token" : nil)
        default: verdict = .tryAgain(why: "HTTP 503", retryAfter: retryAfter())
        }
        let before = pursuit
        let decision = pursuit.forwardAnswered(
            ForwardAnswer(verdict), at: now, retries: retries, jitter: Double.random(in: 0..<1, using: &generator))
        return note(.forwardAnswered(verdict), before, decision)
    }

    private mutating func answerRead(sent: Timestamp) -> Decision.Next {
        let verdict: EntitlementAnswer.Verdict
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<10:
            verdict = .entitled(expiresAt: chance(50) ? now + .seconds(9) : nil, evidence: "{\"n\":\(steps.count)}")
        case 10..<60: verdict = .notEntitled(evidence: "{}")
        case 60..<75: verdict = .misconfigured(message: nil)
        default: verdict = .tryAgain(why: "timeout", retryAfter: retryAfter())
        }
        let answer = EntitlementAnswer(verdict, observedAt: sent)
        let before = pursuit
        let decision = pursuit.entitlementRead(answer, at: now, reads: reads)
        return note(.readAnswered(answer), before, decision)
    }

    private mutating func postpone() -> Decision.Next {
        let allowed = now + .microseconds(Int64.random(in: 1...reads.interval.microseconds, using: &generator))
        let before = pursuit
        let decision = pursuit.readPostponed(to: allowed, at: now)
        return note(.readPostponed, before, decision)
    }

    private mutating func overtake() -> Decision.Next {
        let before = pursuit
        let decision = pursuit.overtaken(at: now)
        return note(.overtaken, before, decision)
    }
}
