import Formats
import Testing

@testable import HTTPServer

@Suite("Rate limits")
struct RateLimitTests {
    @Test("allows a burst, and then single requests")
    func burst() {
        let limit = RateLimit(rate: 2, burst: 3)
        #expect(limit.interval == .milliseconds(500) && limit.windowSeconds == 2)
        var state = RateState()
        let now = Duration.seconds(100)
        #expect((0..<3).map { _ in state.take(limit, at: now).remaining } == [2, 1, 0])
        let refused = state.take(limit, at: now)
        #expect(!refused.isAllowed && refused.retryAfter == .milliseconds(500) && refused.reset == .milliseconds(1_500))
        // A refused request costs nothing.
        #expect(state.take(limit, at: now).retryAfter == .milliseconds(500))
        #expect(!state.take(limit, at: now + .milliseconds(499)).isAllowed)
        #expect(state.take(limit, at: now + .milliseconds(500)).isAllowed)
        #expect(!state.take(limit, at: now + .milliseconds(500)).isAllowed)
        let rested = state.take(limit, at: now + .seconds(60))
        #expect(rested.isAllowed && rested.remaining == 2 && rested.reset == .milliseconds(500))
    }

    @Test("keeps the rate over a long time, for any pattern of requests", arguments: [1, 7, 50, 333])
    func rate(milliseconds: Int) {
        let limit = RateLimit(rate: 10, burst: 20)
        var state = RateState()
        var allowed = 0
        for step in 0..<(60_000 / milliseconds) {
            for _ in 0..<3 where state.take(limit, at: .milliseconds(step * milliseconds)).isAllowed { allowed += 1 }
        }
        let asked = 60_000 / milliseconds * 3
        #expect(allowed <= min(asked, 620) && allowed >= min(asked, 600) - 10)
    }

    @Test("an idle client has its full burst again")
    func full() {
        let limit = RateLimit(rate: 1, burst: 2)
        var state = RateState()
        #expect(state.isFull(at: .zero))
        _ = state.take(limit, at: .seconds(5))
        #expect(!state.isFull(at: .seconds(5)) && state.isFull(at: .seconds(6)))
    }
}
