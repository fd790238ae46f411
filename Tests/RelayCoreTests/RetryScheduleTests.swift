import RelayCore
import TestSupport
import Testing

struct RetryScheduleTests {
    private let schedule = RetrySchedule()

    @Test(
        arguments: [
            (1, 500), (2, 1_000), (3, 2_000), (4, 4_000), (5, 8_000), (6, 16_000), (7, 32_000), (8, 40_000),
            (9, 40_000),
            (21, 40_000), (64, 40_000), (1_000_000, 40_000), (Int.max, 40_000), (0, 500), (-7, 500), (Int.min, 500),
        ] as [(Int, Int)])
    func theDelayDoublesFromHalfASecondAndReachesAMinuteAtMost(failures: Int, milliseconds: Int) {
        #expect(schedule.delay(failures: failures, retryAfter: nil, jitter: 0) == .milliseconds(milliseconds))
        #expect(schedule.delay(failures: failures, retryAfter: nil, jitter: 1) == .milliseconds(milliseconds * 3 / 2))
    }

    @Test(arguments: 1...12) func upToHalfAsMuchAgainIsRandom(failures: Int) {
        let base = schedule.delay(failures: failures, retryAfter: nil, jitter: 0)
        #expect(schedule.delay(failures: failures, retryAfter: nil, jitter: 1) == base * 3 / 2)
        #expect(schedule.delay(failures: failures, retryAfter: nil, jitter: 0.5) == base * 5 / 4)
        var generator = SeededGenerator(seed: UInt64(failures))
        var delays: Set<Duration> = []
        for _ in 0..<100 {
            let delay = schedule.delay(
                failures: failures, retryAfter: nil, jitter: Double.random(in: 0..<1, using: &generator))
            #expect(delay >= base && delay <= base * 3 / 2)
            #expect(delay >= .milliseconds(500) && delay <= .seconds(60))
            delays.insert(delay)
        }
        #expect(delays.count > 90, "those that failed together do not come back together")
    }

    @Test(arguments: [(-1, 0), (-.infinity, 0), (1.5, 1), (.infinity, 1)] as [(Double, Double)])
    func jitterIsClampedToItsBounds(jitter: Double, as inside: Double) {
        #expect(
            schedule.delay(failures: 3, retryAfter: nil, jitter: jitter)
                == schedule.delay(failures: 3, retryAfter: nil, jitter: inside))
    }

    @Test(arguments: [1, 3, 8, 40], [0.0, 0.3, 1.0])
    func whatTheUpstreamAskedForIsNeverUndercut(failures: Int, jitter: Double) {
        let ours = schedule.delay(failures: failures, retryAfter: nil, jitter: jitter)
        for asked in [Duration.zero, .milliseconds(1), .seconds(1), .seconds(59), .seconds(61), .seconds(3600)] {
            let delay = schedule.delay(failures: failures, retryAfter: asked, jitter: jitter)
            #expect(delay == max(asked, ours))
        }
        #expect(schedule.delay(failures: failures, retryAfter: .seconds(-5), jitter: jitter) == ours)
    }

    @Test func itsBoundsAreSettings() {
        let quick = RetrySchedule(first: .milliseconds(10), longest: .milliseconds(45))
        #expect(
            (1...4).map { quick.delay(failures: $0, retryAfter: nil, jitter: 0) }
                == [10, 20, 30, 30].map { .milliseconds($0) })
        #expect(
            (1...4).map { quick.delay(failures: $0, retryAfter: nil, jitter: 1) }
                == [15, 30, 45, 45].map { .milliseconds($0) })
    }

    /// Two thirds of these are not whole numbers in any unit.
    @Test(arguments: [1, 7, 25, 100, 499, 59_999] as [Int])
    func ourOwnPausesNeverExceedTheLongest(milliseconds: Int) {
        let schedule = RetrySchedule(first: .milliseconds(500), longest: .milliseconds(milliseconds))
        for failures in 1...12 {
            for jitter in [0, 0.1, 0.5, 0.9, 0.999_999, 1] {
                let delay = schedule.delay(failures: failures, retryAfter: nil, jitter: jitter)
                #expect(delay > .zero && delay <= .milliseconds(milliseconds))
            }
        }
    }
}
