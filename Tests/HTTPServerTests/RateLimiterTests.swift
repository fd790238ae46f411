import Formats
import HTTPTypes
import Testing

@testable import HTTPServer

@Suite("The rate limiter")
struct RateLimiterTests {
    @Test("limits each name separately")
    func names() throws {
        let limiter = RateLimiter("key", RateLimit(rate: 1, burst: 2))
        #expect((0..<3).map { _ in limiter.take("a", at: .seconds(1)).isAllowed } == [true, true, false])
        #expect(limiter.take("b", at: .seconds(1)).isAllowed)
        let refused = limiter.take("a", at: .seconds(1))
        #expect(refused.policyField == "\"key\";q=2;w=2" && refused.field == "\"key\";r=0;t=2")
        let problem = #expect(throws: Problem.self) { try refused.check() }
        #expect(problem?.code == .rateLimited && problem?.headers[.retryAfter] == "1")
    }

    @Test("remembers a bounded number of names, the busy ones longest")
    func bounded() {
        let limiter = RateLimiter("address", RateLimit(rate: 1, burst: 100), capacity: 64, shards: 1)
        for _ in 0..<100 { _ = limiter.take("busy", at: .seconds(1)) }
        for number in 0..<10_000 { _ = limiter.take("idle \(number)", at: .seconds(1)) }
        #expect(limiter.count <= 64)
        #expect(!limiter.take("busy", at: .seconds(1)).isAllowed)
    }
}
