import TestSupport
import Testing

@testable import RelayCore

/// Invariants for any behaviour of the upstream, over many random nights.
struct CircuitBreakerPropertyTests {
    private struct Night {
        let seed: UInt64
        var breaker: CircuitBreaker
        var now = BreakerScript.second(0)
        var underWay: [CircuitBreaker.Admission] = []
        /// The latest time until which the upstream has requested a pause.
        var askedFor = BreakerScript.second(0)
        var generator: SeededGenerator

        init(seed: UInt64) {
            self.seed = seed
            generator = SeededGenerator(seed: seed)
            breaker = CircuitBreaker(since: BreakerScript.second(0))
        }

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

        mutating func pass(upTo seconds: Double) {
            now = now + .microseconds(Int64.random(in: 1...Int64(seconds * 1e6), using: &generator))
        }

        mutating func probe() -> CircuitBreaker.Admission? {
            breaker.probe(at: now, jitter: Double.random(in: 0..<1, using: &generator))
        }

        mutating func end(_ index: Int, isWell: Bool) {
            let admission = underWay.remove(at: index)
            guard !chance(3) else {
                breaker.ended(admission, nil, at: now, jitter: 0.5)
                return
            }
            let retryAfter: Duration? =
                !isWell && chance(5) ? .seconds(Int.random(in: 0...600, using: &generator)) : nil
            if let retryAfter { askedFor = max(askedFor, now + min(retryAfter, .seconds(60))) }
            let outcome: UpstreamHealth.Outcome =
                isWell ? .success : chance(20) ? .misconfigured("401") : .failure("HTTP 503")
            breaker.ended(
                admission,
                CallResult(outcome, subject: Int.random(in: 0..<30, using: &generator), retryAfter: retryAfter),
                at: now, jitter: Double.random(in: 0..<1, using: &generator))
        }
    }

    /// The upstream is healthy, unavailable or partly healthy in turns. Calls take a while and end in any order.
    @Test(arguments: 0..<60 as Range<UInt64>) func whateverHappens(seed: UInt64) {
        var night = Night(seed: seed)
        var opened = 0
        var share = 100
        for step in 0..<4_000 {
            if night.chance(1) { share = [0, 0, 30, 100].randomElement(using: &night.generator) ?? 0 }
            night.pass(upTo: night.chance(2) ? 15 : 0.2)
            let before = night.breaker
            if night.chance(50), let admission = night.breaker.admission() ?? night.probe() {
                night.underWay.append(admission)
                if night.now < night.askedFor {
                    Issue.record("seed \(seed), step \(step): sent although it was asked not to")
                    return
                }
            } else if let index = night.underWay.indices.randomElement(using: &night.generator) {
                night.end(index, isWell: night.chance(share))
            }
            let breaker = night.breaker
            if before.state == .closed, breaker.state != .closed { opened += 1 }
            // Closed if and only if calls are admitted; an outage is never reported as healthy.
            let claims = [
                (breaker.admission() != nil) == (breaker.state == .closed),
                breaker.state != .halfOpen || (1...breaker.settings.probes).contains(breaker.allowance),
                breaker.state != .open || breaker.allowance == 0,
                breaker.state == .closed || breaker.health.state != .ok,
                breaker.state != .closed || breaker.allowance >= breaker.settings.probes,
            ]
            if let broken = claims.firstIndex(of: false) {
                Issue.record("seed \(seed), step \(step): claim \(broken) of \(breaker)")
                return
            }
        }
        #expect(opened > 3, "seed \(seed): else nothing was tried")
    }

    /// However long the outage and whatever pause was requested: a copy with work notices the recovery within the
    /// longest wait, or within the requested pause.
    @Test(arguments: 100..<160 as Range<UInt64>) func aRecoveryIsNoticedSoon(seed: UInt64) {
        var night = Night(seed: seed)
        for _ in 0..<600 {
            night.pass(upTo: 0.5)
            if night.chance(60), let admission = night.breaker.admission() ?? night.probe() {
                night.underWay.append(admission)
            } else if let index = night.underWay.indices.randomElement(using: &night.generator) {
                night.end(index, isWell: false)
            }
        }
        // Hanging calls end by their timeouts.
        while let last = night.underWay.indices.last { night.end(last, isWell: false) }
        let well = night.now
        let longest = max(night.breaker.settings.longestWait, night.breaker.settings.longestHold)
        while night.breaker.state != .closed, night.now - well < .seconds(120) {
            night.now = night.now + .milliseconds(200)
            guard let probe = night.probe() else { continue }
            night.breaker.ended(probe, CallResult(.success, subject: 1), at: night.now, jitter: 0.5)
        }
        #expect(night.now - well <= longest + .milliseconds(200), "seed \(seed)")
    }
}
