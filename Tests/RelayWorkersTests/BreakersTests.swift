import NIOConcurrencyHelpers
import RelayCore
import Testing

@testable import Relay

@Suite("Breakers of a queue")
struct BreakersTests {
    private let events = NIOLockedValueBox<[String]>([])

    private func breakers() -> Breakers<String> {
        var settings = CircuitBreaker.Settings()
        settings.failures = 2
        settings.firstWait = .zero
        settings.longestWait = .zero
        settings.probes = 1
        return Breakers(settings: settings) { [events] route, change in
            if let event = change.event { events.withLockedValue { $0.append("\(route) \(event)") } }
        }
    }

    @Test("an open one admits one probe, and reports once that it opened and closed")
    func probe() throws {
        let breakers = breakers()
        let allowance = try #require(breakers.allowance(in: "a") { min($0, 8) })
        #expect(allowance.limit == 8 && !allowance.isProbe)
        let permit = try #require(allowance.permit)
        for subject in 1...3 { breakers.end(permit, CallResult(.failure("HTTP 500"), subject: subject)) }
        #expect(breakers.hasOpen)
        let probe = try #require(breakers.allowance(in: "a") { min($0, 8) })
        #expect(probe.limit == 1 && probe.isProbe)
        #expect(breakers.allowance(in: "a") { min($0, 8) } == nil)
        #expect(breakers.allowance(in: "b") { min($0, 8) }?.isProbe == false)
        breakers.end(try #require(probe.permit), CallResult(.success, subject: 1))
        #expect(!breakers.hasOpen)
        #expect(events.withLockedValue(\.self) == ["a opened", "a closed"])
    }

    @Test("an unsent probe admits the next one, once")
    func unused() throws {
        let breakers = breakers()
        let permit = try #require(breakers.allowance(in: "a") { min($0, 8) }?.permit)
        for subject in 1...2 { breakers.end(permit, CallResult(.failure("HTTP 500"), subject: subject)) }
        let first = try #require(breakers.allowance(in: "a") { min($0, 8) }?.permit)
        breakers.end(first)
        breakers.end(first)
        #expect(breakers.allowance(in: "a") { min($0, 8) }?.isProbe == true)
        #expect(breakers.allowance(in: "a") { min($0, 8) } == nil)
    }

    @Test("without a free place there is no turn")
    func room() {
        let breakers = breakers()
        #expect(breakers.allowance(in: "a") { _ in 0 } == nil)
    }
}
