import Formats
import RelayCore
import TestSupport
import Testing

@Suite("The state of an endpoint")
struct EndpointHealthTests {
    private static let start = Timestamp(seconds: 1_800_000_000)
    private static func day(_ days: Double) -> Timestamp { start + .seconds(rounded: days * 86_400) }

    @Test("after five days without a success, the next failure disables it")
    func patience() {
        var health = EndpointHealth()
        #expect(health.record(.failed, wasRetried: true, at: Self.day(0)) == .failing)
        #expect(health.record(.refused, wasRetried: true, at: Self.day(2)) == nil)
        #expect(health.record(.failed, wasRetried: true, at: Self.day(4.99)) == nil)
        #expect(health.record(.failed, wasRetried: true, at: Self.day(5)) == .disabled(.failing))
        #expect(health.record(.failed, wasRetried: true, at: Self.day(6)) == nil)
        #expect(health.record(.delivered, wasRetried: true, at: Self.day(6)) == nil)
    }

    @Test("one success restarts the count of days")
    func success() {
        var health = EndpointHealth()
        #expect(health.record(.failed, wasRetried: true, at: Self.day(0)) == .failing)
        #expect(health.record(.delivered, wasRetried: true, at: Self.day(4.9)) == .succeeded)
        #expect(health.record(.failed, wasRetried: true, at: Self.day(5.1)) == .failing)
        #expect(health.record(.failed, wasRetried: true, at: Self.day(10)) == nil)
        #expect(health.record(.failed, wasRetried: true, at: Self.day(10.2)) == .disabled(.failing))
    }

    @Test("after quiet days, a first failure does not disable it")
    func quiet() {
        var health = EndpointHealth()
        #expect(health.record(.failed, wasRetried: false, at: Self.day(0)) == .failing)
        #expect(health.record(.failed, wasRetried: false, at: Self.day(6)) == nil)
        #expect(!health.isDisabled)
        #expect(health.record(.delivered, wasRetried: true, at: Self.day(6)) == .succeeded)
        #expect(health.record(.failed, wasRetried: false, at: Self.day(7)) == .failing)
        #expect(health.record(.failed, wasRetried: false, at: Self.day(13)) == nil)
        #expect(health.record(.failed, wasRetried: true, at: Self.day(13)) == .disabled(.failing))
    }

    @Test("410 disables it at once; a success is written once a minute; an aborted try has no effect")
    func others() {
        var health = EndpointHealth()
        #expect(health.record(.delivered, wasRetried: true, at: Self.start) == .succeeded)
        #expect(health.record(.delivered, wasRetried: true, at: Self.start + .seconds(59)) == nil)
        #expect(health.record(.delivered, wasRetried: true, at: Self.start + .seconds(60)) == .succeeded)
        #expect(health.record(.cancelled, wasRetried: true, at: Self.day(9)) == nil)
        #expect(health.record(.gone, wasRetried: true, at: Self.day(9)) == .disabled(.gone))
        #expect(health.isDisabled)
    }

    @Test("in any order of results, failures disable it only five days after a success")
    func property() {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var (health, now, success) = (EndpointHealth(), Self.start, Self.start)
            for _ in 0..<60 {
                now = now + .seconds(Int.random(in: 1..<200_000, using: &generator))
                let verdict: WebhookResult.Verdict =
                    Int.random(in: 0..<6, using: &generator) == 0 ? .delivered : .failed
                if verdict == .delivered, !health.isDisabled { success = now }
                if health.record(verdict, wasRetried: true, at: now) == .disabled(.failing) {
                    #expect(now - success >= EndpointHealth.patience)
                }
            }
        }
    }
}
