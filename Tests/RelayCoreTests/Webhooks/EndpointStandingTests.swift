import RelayCore
import TestSupport
import Testing

@Suite("The state of an endpoint")
struct EndpointStandingTests {
    private static let start = Timestamp(seconds: 1_800_000_000)
    private static func day(_ days: Double) -> Timestamp { start + .seconds(rounded: days * 86_400) }

    @Test("after five days without a success, the next failure disables it")
    func patience() {
        var standing = EndpointStanding()
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(0)) == .failing)
        #expect(standing.record(.refused, wasRetried: true, at: Self.day(2)) == nil)
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(4.99)) == nil)
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(5)) == .disabled(.failing))
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(6)) == nil)
        #expect(standing.record(.delivered, wasRetried: true, at: Self.day(6)) == nil)
    }

    @Test("one success restarts the count of days")
    func success() {
        var standing = EndpointStanding()
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(0)) == .failing)
        #expect(standing.record(.delivered, wasRetried: true, at: Self.day(4.9)) == .succeeded)
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(5.1)) == .failing)
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(10)) == nil)
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(10.2)) == .disabled(.failing))
    }

    @Test("after quiet days, a first failure does not disable it")
    func quiet() {
        var standing = EndpointStanding()
        #expect(standing.record(.failed, wasRetried: false, at: Self.day(0)) == .failing)
        #expect(standing.record(.failed, wasRetried: false, at: Self.day(6)) == nil)
        #expect(!standing.isDisabled)
        #expect(standing.record(.delivered, wasRetried: true, at: Self.day(6)) == .succeeded)
        #expect(standing.record(.failed, wasRetried: false, at: Self.day(7)) == .failing)
        #expect(standing.record(.failed, wasRetried: false, at: Self.day(13)) == nil)
        #expect(standing.record(.failed, wasRetried: true, at: Self.day(13)) == .disabled(.failing))
    }

    @Test("410 disables it at once; a success is written once a minute; an aborted try has no effect")
    func others() {
        var standing = EndpointStanding()
        #expect(standing.record(.delivered, wasRetried: true, at: Self.start) == .succeeded)
        #expect(standing.record(.delivered, wasRetried: true, at: Self.start + .seconds(59)) == nil)
        #expect(standing.record(.delivered, wasRetried: true, at: Self.start + .seconds(60)) == .succeeded)
        #expect(standing.record(.cancelled, wasRetried: true, at: Self.day(9)) == nil)
        #expect(standing.record(.gone, wasRetried: true, at: Self.day(9)) == .disabled(.gone))
        #expect(standing.isDisabled)
    }

    @Test("in any order of results, failures disable it only five days after a success")
    func property() {
        for seed in 0..<200 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var (standing, now, success) = (EndpointStanding(), Self.start, Self.start)
            for _ in 0..<60 {
                now = now + .seconds(Int.random(in: 1..<200_000, using: &generator))
                let verdict: WebhookResult.Verdict =
                    Int.random(in: 0..<6, using: &generator) == 0 ? .delivered : .failed
                if verdict == .delivered, !standing.isDisabled { success = now }
                if standing.record(verdict, wasRetried: true, at: now) == .disabled(.failing) {
                    #expect(now - success >= EndpointStanding.patience)
                }
            }
        }
    }
}
