import TestSupport
import Testing

@testable import RelayCore

struct CallGateTests {
    private var gate = CallGate(capacity: 8, since: BreakerScript.second(0))
    private var passes: [UInt64: CallGate.Pass] = [:]
    private var refused: [UInt64] = []

    private mutating func arrive(_ waiters: ClosedRange<UInt64>, on route: UpstreamRoute) -> [CallGate.Arrival] {
        waiters.map { waiter in
            let arrival = gate.arrive(waiter, on: route)
            if case .admitted(let pass) = arrival { passes[waiter] = pass }
            return arrival
        }
    }

    /// - Returns: the calls that were admitted in its place, in order.
    @discardableResult
    private mutating func end(
        _ waiter: UInt64, _ outcome: UpstreamHealth.Outcome? = .success, at second: Double = 1
    ) throws -> [UInt64] {
        let pass = try #require(passes[waiter])
        passes[waiter] = nil
        let result = outcome.map { CallResult($0, subject: Int(waiter)) }
        var admitted: [UInt64] = []
        for word in gate.end(pass, result, at: BreakerScript.second(second), jitter: 0) {
            if let pass = word.pass {
                passes[word.waiter] = pass
                admitted.append(word.waiter)
            } else {
                refused.append(word.waiter)
            }
        }
        return admitted
    }

    @Test(arguments: [(1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4), (8, 6, 8), (64, 48, 64), (0, 1, 1), (-3, 1, 1)])
    func aRouteGetsThreeQuartersAndBothTogetherNoMoreThanAll(capacity: Int, one: Int, both: Int) {
        var gate = CallGate(capacity: capacity, since: BreakerScript.second(0))
        for waiter in 0..<100 as Range<UInt64> { _ = gate.arrive(waiter, on: .payments) }
        #expect(gate.load(of: .payments).inFlight == one)
        #expect(gate.load(of: .payments).waiting == 100 - one)
        for waiter in 100..<200 as Range<UInt64> { _ = gate.arrive(waiter, on: .reads) }
        #expect(gate.load(of: .payments).inFlight + gate.load(of: .reads).inFlight == both)
    }

    /// A host that does not answer takes only one route's share of places, although two routes lead to it.
    @Test mutating func storeKit2sTwoRoutesTogetherGetThreeQuarters() throws {
        _ = arrive(1...4, on: .registrations)
        #expect(arrive(5...8, on: .synchronizations).suffix(2) == [.waiting, .waiting])
        #expect(arrive(9...9, on: .registrations) == [.waiting])
        #expect(arrive(10...11, on: .payments).allSatisfy { $0 != .waiting && $0 != .refused })
        // The two routes share their places in turn.
        #expect(try end(1) == [9])
        #expect(try end(2) == [7])
    }

    @Test mutating func whoCameFirstGoesFirst() throws {
        #expect(arrive(1...10, on: .payments).suffix(4) == [.waiting, .waiting, .waiting, .waiting])
        #expect(try end(3) == [7])
        #expect(try end(1) == [8])
        #expect(arrive(11...11, on: .payments) == [.waiting])
        #expect(try end(7) == [9])
        #expect(try end(8) == [10])
        #expect(try end(9) == [11])
        #expect(try end(2) == [])
    }

    @Test mutating func whereBothWaitTheyGoByTurns() throws {
        gate = CallGate(capacity: 1, since: BreakerScript.second(0))
        _ = arrive(1...5, on: .payments)
        _ = arrive(11...14, on: .reads)
        var order: [UInt64] = []
        var current: UInt64 = 1
        while passes[current] != nil {
            order.append(current)
            current = try end(current).first ?? 0
        }
        #expect(order.count == 9)
        #expect(order.map { $0 > 10 } == [false, false, true, false, true, false, true, false, true])
    }

    @Test mutating func whoGivesUpIsPassedOver() throws {
        _ = arrive(1...9, on: .payments)
        let gaveUp = gate.giveUp(7, on: .payments)
        let again = gate.giveUp(7, on: .payments)
        let underWay = gate.giveUp(1, on: .payments)
        #expect(gaveUp && !again && !underWay)
        #expect(try end(1) == [8])
    }

    @Test mutating func aPassIsGivenBackOnce() throws {
        _ = arrive(1...8, on: .payments)
        let pass = try #require(passes[1])
        #expect(try end(1) == [7])
        let words = gate.end(pass, CallResult(.failure("x"), subject: 1), at: BreakerScript.second(1), jitter: 0)
        #expect(words == [])
        #expect(gate.load(of: .payments).inFlight == 6)
        #expect(gate[.payments].health.state == .ok)
    }

    @Test mutating func whenItOpensThoseWhoWaitAreSentAwayAndTheOtherRouteGoesOn() throws {
        _ = arrive(1...20, on: .payments)
        _ = arrive(31...32, on: .reads)
        for waiter in [1, 2, 3, 4] as [UInt64] { try end(waiter, .failure("reset")) }
        #expect(refused == [])
        try end(5, .failure("reset"))
        #expect(refused == Array(11...20))
        #expect(gate.load(of: .payments).waiting == 0)
        #expect(arrive(21...21, on: .payments) == [.refused])
        #expect(gate[.reads].state == .closed)
        #expect(gate.load(of: .reads).inFlight == 2)
    }

    @Test mutating func hangingCallsLeaveRoomForAProbeAndForTheRecovery() throws {
        gate = CallGate(capacity: 64, since: BreakerScript.second(0))
        _ = arrive(1...48, on: .payments)
        for waiter in 1...5 as ClosedRange<UInt64> { try end(waiter, .failure("timeout"), at: 20) }
        #expect(gate.load(of: .payments).inFlight == 43)
        let probe = gate.probe(on: .payments, at: BreakerScript.second(20.5), jitter: 0)
        #expect(probe != nil)
        passes[100] = probe
        try end(100, at: 20.6)
        // Forty-three calls still hang in their places; the other five places are free.
        let arrivals = arrive(101...110, on: .payments)
        #expect(arrivals.count { $0 == .waiting } == 5)
        #expect(try end(101) == [106])
    }

    @Test mutating func probesKeepToTheBoundOfAll() throws {
        gate = CallGate(capacity: 1, since: BreakerScript.second(0))
        for waiter in 1...5 as ClosedRange<UInt64> {
            _ = arrive(waiter...waiter, on: .payments)
            try end(waiter, .failure("reset"))
        }
        _ = arrive(6...6, on: .reads)
        let none = gate.probe(on: .payments, at: BreakerScript.second(9), jitter: 0)
        #expect(none == nil)
        try end(6)
        let probe = gate.probe(on: .payments, at: BreakerScript.second(9), jitter: 0)
        #expect(probe?.isProbe == true)
        #expect(arrive(7...7, on: .reads) == [.waiting])
        passes[8] = probe
        #expect(try end(8, nil) == [7])
    }

    /// For any sequence of calls: never more calls than places, no call waits beside a free place, and none is
    /// forgotten.
    @Test(arguments: 0..<40 as Range<UInt64>) func alwaysHolds(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...12, using: &generator)
        var gate = CallGate(capacity: capacity, since: BreakerScript.second(0))
        var held: [CallGate.Pass] = []
        var waiting: [UInt64: UpstreamRoute] = [:]
        var now = BreakerScript.second(0)
        for number in 0..<3_000 as Range<UInt64> {
            now = now + .milliseconds(Int.random(in: 0...400, using: &generator))
            let route = UpstreamRoute.allCases.randomElement(using: &generator) ?? .payments
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                switch gate.arrive(number, on: route) {
                case .admitted(let pass): held.append(pass)
                case .waiting: waiting[number] = route
                case .refused: if let probe = gate.probe(on: route, at: now, jitter: 0.5) { held.append(probe) }
                }
            case 5:
                if let (waiter, route) = waiting.randomElement(using: &generator), gate.giveUp(waiter, on: route) {
                    waiting[waiter] = nil
                }
            default:
                guard let index = held.indices.randomElement(using: &generator) else { break }
                let isWell = Int.random(in: 0..<3_000, using: &generator) > Int(number)
                let result = CallResult(isWell ? .success : .failure("x"), subject: Int(number))
                for word in gate.end(held.remove(at: index), result, at: now, jitter: 0.5) {
                    waiting[word.waiter] = nil
                    if let pass = word.pass { held.append(pass) }
                }
            }
            let loads = UpstreamRoute.allCases.map { gate.load(of: $0) }
            let isHonest =
                loads.reduce(0) { $0 + $1.inFlight } == held.count && held.count <= capacity
                && loads.reduce(0) { $0 + $1.waiting } == waiting.count
            let isIdle = held.isEmpty && !waiting.isEmpty
            if !isHonest || isIdle {
                Issue.record("seed \(seed), call \(number): \(loads), \(held.count) held")
                return
            }
        }
    }
}
