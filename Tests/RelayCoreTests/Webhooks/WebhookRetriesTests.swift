import RelayCore
import TestSupport
import Testing

@Suite("Retries of a message")
struct WebhookRetriesTests {
    private static let retries = WebhookRetries(pauses: [.seconds(5), .seconds(30), .seconds(120)])

    @Test("a pause for each try that failed, and none after the last")
    func schedule() {
        let pauses = (1...4).map { Self.retries.pause(failures: $0, jitter: 0.5) }
        #expect(pauses == [.seconds(5), .seconds(30), .seconds(120), nil])
        #expect(WebhookRetries(pauses: []).pause(failures: 1, jitter: 0.5) == nil)
        #expect(WebhookRetries.standard.count == 9)
    }

    @Test("a fifth shorter or longer at most, whatever the number")
    func jitter() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<1_000 {
            let pause = Self.retries.pause(failures: 2, jitter: .random(in: 0..<1, using: &generator))
            #expect(pause.map { (.seconds(24) ... .seconds(36)).contains($0) } == true)
        }
        #expect(Self.retries.pause(failures: 1, jitter: -3) == Self.retries.pause(failures: 1, jitter: 0))
        #expect(Self.retries.pause(failures: 1, jitter: 9) == Self.retries.pause(failures: 1, jitter: 1))
    }

    @Test("the endpoint's requested pause is respected, up to an hour")
    func retryAfter() {
        #expect(Self.retries.pause(failures: 1, retryAfter: .seconds(60), jitter: 0) == .seconds(60))
        #expect(Self.retries.pause(failures: 1, retryAfter: .seconds(1), jitter: 0.5) == .seconds(5))
        #expect(Self.retries.pause(failures: 1, retryAfter: .seconds(90_000), jitter: 0) == .seconds(3_600))
    }

    @Test(
        "the effect of each answer",
        arguments: [
            (200, WebhookResult.Verdict.delivered), (204, .delivered), (299, .delivered), (199, .failed),
            (301, .failed),
            (302, .failed), (404, .failed), (410, .gone), (429, .failed), (500, .failed),
        ])
    func answers(status: Int, verdict: WebhookResult.Verdict) {
        let result = WebhookResult(status: status, retryAfter: nil, latency: .zero)
        #expect(result.verdict == verdict)
        #expect((result.error == nil) == (verdict == .delivered))
        let outcome = DeliveryOutcome(result, tries: 1, retries: Self.retries, jitter: 0.5)
        switch verdict {
        case .delivered: #expect(outcome == .delivered)
        case .gone: #expect(outcome == .failed)
        default: #expect(outcome == .again(after: .seconds(5)))
        }
        guard verdict == .failed else { return }
        #expect(DeliveryOutcome(result, tries: 4, retries: Self.retries, jitter: 0.5) == .failed)
    }

    @Test("an aborted try does not count")
    func cancelled() {
        #expect(DeliveryOutcome(WebhookResult(.cancelled), tries: 9, retries: Self.retries, jitter: 0) == nil)
    }
}
