import Formats
import Testing

@testable import RelayCore

/// One route, with times in seconds since the process began. Tests read like a log of calls and their results.
struct BreakerScript {
    var breaker: CircuitBreaker
    private var subjects = 0

    init(settings: CircuitBreaker.Settings = CircuitBreaker.Settings()) {
        breaker = CircuitBreaker(settings: settings, since: Self.second(0))
    }

    private static let start = ContinuousClock.now

    static func second(_ second: Double) -> ContinuousClock.Instant { start + .seconds(rounded: second) }

    /// Failures of as many different customers.
    static func failed(_ count: Int, at second: Double) -> BreakerScript {
        var script = BreakerScript()
        for _ in 0..<count { script.fails(at: second) }
        return script
    }

    mutating func fails(
        _ admission: CircuitBreaker.Admission? = nil, of subject: Int? = nil, retryAfter: Duration? = nil,
        at second: Double, jitter: Double = 0
    ) {
        subjects += 1
        ends(
            admission, CallResult(.failure("HTTP 503"), subject: subject ?? subjects, retryAfter: retryAfter),
            at: second, jitter: jitter)
    }

    mutating func succeeds(_ admission: CircuitBreaker.Admission? = nil, at second: Double) {
        ends(admission, CallResult(.success, subject: 0), at: second, jitter: 0)
    }

    mutating func ends(
        _ admission: CircuitBreaker.Admission?, _ result: CallResult?, at second: Double, jitter: Double = 0
    ) {
        guard let admission = admission ?? breaker.admission() else { return }
        breaker.ended(admission, result, at: Self.second(second), jitter: jitter)
    }

    mutating func probe(at second: Double, jitter: Double = 0) -> CircuitBreaker.Admission? {
        breaker.probe(at: Self.second(second), jitter: jitter)
    }

    mutating func goodProbe(at second: Double) throws -> CircuitBreaker.Admission {
        let probe = probe(at: second)
        return try #require(probe, "no probe at second \(second)")
    }

    /// The seconds at which probes may be sent, of tries every hundredth of a second, if every probe fails at once.
    mutating func probesThatFail(from: Double, to: Double, jitter: Double = 0) -> [Double] {
        var seconds: [Double] = []
        for hundredth in Int(from * 100)...Int(to * 100) {
            let at = Double(hundredth) / 100
            guard let probe = probe(at: at, jitter: jitter) else { continue }
            fails(probe, at: at)
            seconds.append(at)
        }
        return seconds
    }
}
