import RelayCore
import Testing

@testable import Relay

@Suite("Extrapolation of the database's clock")
struct DatabaseClockTests {
    private let start = ContinuousClock.now
    private let noon = Timestamp(seconds: 1_795_262_400)

    @Test("is unknown before the first observation")
    func unknown() {
        #expect(DatabaseClock().now == nil)
    }

    @Test("takes an observation as the middle of request and answer, and continues from there")
    func middle() {
        let clock = DatabaseClock()
        clock.observe(noon, sent: start, received: start + .milliseconds(10))
        #expect(clock.now(at: start + .milliseconds(5)) == noon)
        #expect(clock.now(at: start + .milliseconds(1_005)) == noon + .seconds(1))
        #expect(clock.now(at: start) == noon - .milliseconds(5))
    }

    @Test("prefers the more precise of two observations")
    func sharper() {
        let clock = DatabaseClock()
        clock.observe(noon, sent: start, received: start + .milliseconds(10))
        let vague = noon + .milliseconds(1_290)
        clock.observe(vague, sent: start + .seconds(1), received: start + .seconds(1) + .milliseconds(300))
        #expect(clock.now(at: start + .milliseconds(5)) == noon)
        let sharp = noon + .seconds(2)
        clock.observe(sharp, sent: start + .seconds(2), received: start + .seconds(2) + .milliseconds(2))
        #expect(clock.now(at: start + .seconds(2) + .milliseconds(1)) == sharp)
    }

    /// Each answer bounds the database's time: at the request it was not past the observed time, and at the answer not
    /// before it.
    @Test("is moved by an imprecise observation only as far as needed", arguments: [-1, 1])
    func bounded(direction: Int) {
        let clock = DatabaseClock()
        clock.observe(noon, sent: start, received: start + .milliseconds(10))
        let (sent, received) = (start + .seconds(1), start + .seconds(1) + .milliseconds(300))
        let far = noon + .seconds(1 + 40 * direction)
        clock.observe(far, sent: sent, received: received)
        #expect(clock.now(at: direction < 0 ? sent : received) == far)
    }

    @Test("accepts an imprecise observation after ten seconds, since clocks drift and primaries change")
    func primaryChanged() {
        let clock = DatabaseClock()
        clock.observe(noon, sent: start, received: start + .milliseconds(2))
        let later = start + .milliseconds(10_002)
        clock.observe(noon - .seconds(30), sent: later, received: later + .milliseconds(500))
        #expect(clock.now(at: later + .milliseconds(250)) == noon - .seconds(30))
    }

    @Test(
        "does not go back if a more precise answer is earlier, unless it is another clock",
        arguments: [40, 4_000])
    func monotone(ahead: Int) {
        let clock = DatabaseClock()
        #expect(clock.give(at: start) == nil)
        clock.observe(noon, sent: start, received: start + .milliseconds(ahead * 2))
        let first = clock.give(at: start + .milliseconds(ahead * 2))
        #expect(first == noon + .milliseconds(ahead))
        // This observation was answered at once.
        let (sent, received) = (start + .milliseconds(ahead * 2), start + .milliseconds(ahead * 2 + 2))
        clock.observe(noon + .milliseconds(1), sent: sent, received: received)
        #expect(clock.give(at: received) == (ahead < 1_000 ? first : noon + .milliseconds(2)))
        #expect(clock.give(at: received + .seconds(60)) == noon + .milliseconds(60_002))
    }

    @Test("reports the error of the host's clock")
    func drift() {
        let clock = DatabaseClock()
        #expect(clock.hostDrift == nil)
        clock.observe(clock.nowOrHostTime - .seconds(3_600), sent: .now)
        // One hour, except for the time between the two statements.
        #expect(clock.hostDrift.map { (3_590...3_610).contains($0 / .seconds(1)) } == true)
    }

    @Test("is set by a query, and agrees with the database")
    func asking() async throws {
        try await TestDatabase.run { database in
            let store = await database.store("one")
            try await store.readClock()
            let before = try await database.now()
            let told = try #require(store.memory.clock.now)
            let after = try await database.now()
            // Half a round trip is uncertain.
            #expect((before - .seconds(1)...after + .seconds(1)).contains(told))
        }
    }
}
