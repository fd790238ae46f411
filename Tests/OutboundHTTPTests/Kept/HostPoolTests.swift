import Testing

@testable import OutboundHTTP

/// Decisions of the pool: connections and calls are numbers here.
struct HostPoolTests {
    private typealias Pool = HostPool<Int, Int>

    private func text(_ order: Pool.Order) -> String {
        var words: [String] = []
        if let (call, connection) = order.send { words.append("send \(call) on \(connection)") }
        words += order.close.map { "close \($0)" } + order.fail.map { "fail \($0)" }
        if order.opens { words.append("open") }
        return words.joined(separator: ", ")
    }

    @Test func aCallOpensAConnectionAndTheNextUsesItAgain() {
        var pool = Pool(limit: 8)
        #expect(text(pool.arrive(1)) == "open")
        #expect(text(pool.opened(10)) == "send 1 on 10")
        #expect(text(pool.freed(10)) == "")
        #expect(text(pool.arrive(2)) == "send 2 on 10")
    }

    @Test func theConnectionUsedLastIsTakenFirst() {
        var pool = Pool(limit: 8)
        for call in 1...2 { _ = pool.arrive(call) }
        for connection in [10, 11] { _ = pool.opened(connection) }
        _ = (pool.freed(11), pool.freed(10))
        #expect(text(pool.arrive(3)) == "send 3 on 10")
    }

    @Test func anyFreeConnectionTakesTheOldestCall() {
        var pool = Pool(limit: 8)
        _ = (pool.arrive(1), pool.opened(10))
        #expect(text(pool.arrive(2)) == "open")
        #expect(text(pool.arrive(3)) == "open")
        #expect(text(pool.freed(10)) == "send 2 on 10")
        #expect(text(pool.opened(11)) == "send 3 on 11")
        #expect(text(pool.opened(12)) == "", "nobody waits any more: it is idle")
        #expect(text(pool.arrive(4)) == "send 4 on 12")
    }

    @Test func beyondTheBoundCallsWait() {
        var pool = Pool(limit: 2)
        #expect((1...4).map { text(pool.arrive($0)) } == ["open", "open", "", ""])
        #expect(text(pool.opened(10)) == "send 1 on 10")
        #expect(text(pool.opened(11)) == "send 2 on 11")
        #expect(text(pool.freed(11)) == "send 3 on 11")
        #expect(text(pool.closed(10)) == "open", "one still waits, and there is room")
        #expect(text(pool.opened(12)) == "send 4 on 12")
    }

    @Test func aFailedAttemptAmongOthersFailsNoCall() {
        var pool = Pool(limit: 8)
        _ = (pool.arrive(1), pool.arrive(2), pool.arrive(3))
        #expect(text(pool.openingFailed()) == "")
        #expect(text(pool.opened(10)) == "send 1 on 10, open", "the host accepts connections again")
        #expect(text(pool.openingFailed()) == "")
        #expect(text(pool.openingFailed()) == "fail 2, open", "one is in use, and may hang")
        #expect(text(pool.freed(10)) == "send 3 on 10")
        #expect(text(pool.openingFailed()) == "")
    }

    @Test func theLastFailedAttemptFailsAllThatWait() {
        var pool = Pool(limit: 8)
        _ = (pool.arrive(1), pool.arrive(2))
        #expect(text(pool.openingFailed()) == "")
        #expect(text(pool.openingFailed()) == "fail 1, fail 2")
        #expect(text(pool.arrive(3)) == "open", "a later call tries again")
    }

    @Test func whenTheLastConnectionEndsAnotherIsOpenedForThoseThatWait() {
        var pool = Pool(limit: 1)
        _ = (pool.arrive(1), pool.opened(10), pool.arrive(2))
        #expect(text(pool.closed(10)) == "open")
        #expect(text(pool.openingFailed()) == "fail 2")
    }

    @Test func aReturnedCallGoesFirst() {
        var pool = Pool(limit: 1)
        _ = (pool.arrive(1), pool.opened(10), pool.arrive(2))
        #expect(text(pool.returned(1, by: 10)) == "open")
        #expect(text(pool.opened(11)) == "send 1 on 11")
        #expect(text(pool.freed(11)) == "send 2 on 11")
    }

    @Test func aReturnedCallTakesAnIdleConnection() {
        var pool = Pool(limit: 2)
        _ = (pool.arrive(1), pool.arrive(2), pool.opened(10), pool.opened(11), pool.freed(11))
        #expect(text(pool.returned(1, by: 10)) == "send 1 on 11")
    }

    @Test func onlyAnIdleConnectionExpires() {
        var pool = Pool(limit: 2)
        _ = (pool.arrive(1), pool.opened(10))
        #expect(text(pool.expired(10)) == "")
        _ = pool.freed(10)
        #expect(text(pool.expired(10)) == "close 10")
        #expect(text(pool.arrive(2)) == "open")
    }

    @Test func aWithdrawnCallIsNotSent() {
        var pool = Pool(limit: 1)
        _ = (pool.arrive(1), pool.opened(10), pool.arrive(2), pool.arrive(3))
        guard case .waiting = pool.withdraw(2), case .on(10) = pool.withdraw(1), case .none = pool.withdraw(9) else {
            Issue.record("2 waited, 1 is on 10, 9 is unknown")
            return
        }
        #expect(text(pool.freed(10)) == "send 3 on 10")
    }

    @Test func afterTheEndNothingIsKept() {
        var pool = Pool(limit: 3)
        _ = (pool.arrive(1), pool.arrive(2), pool.opened(10), pool.opened(11), pool.freed(11), pool.arrive(3))
        _ = (pool.arrive(4), pool.arrive(5))
        #expect(text(pool.shutDown()) == "fail 4, fail 5")
        #expect(text(pool.arrive(6)) == "fail 6")
        #expect(text(pool.opened(12)) == "close 12")
        #expect(text(pool.freed(10)) == "close 10")
        #expect(text(pool.returned(3, by: 11)) == "fail 3")
        #expect(pool.idle.isEmpty && pool.waiting.isEmpty && pool.opening == 0)
    }

    /// For any order of events: the limit holds, no call is lost, no call has two connections, and the queue keeps its
    /// order.
    @Test(arguments: 1...200) func whateverHappens(seed: Int) {
        var course = Course(seed: seed, limit: 1 + seed % 5)
        for _ in 0..<300 { course.step() }
        course.finish()
        #expect(course.faults == [], "seed \(seed)")
    }
}

/// A random sequence of events, with a model of each order's effects.
private struct Course {
    private var random: Seeded
    private let limit: Int
    private var pool: HostPool<Int, Int>
    /// Calls by connection.
    private var open: [Int: Int?] = [:]
    private var unended: Set<Int> = []
    private var opening = 0
    private var lastNumber = 0
    private(set) var faults: [String] = []

    init(seed: Int, limit: Int) {
        random = Seeded(state: UInt64(seed))
        self.limit = limit
        pool = HostPool(limit: limit)
    }

    mutating func step() {
        let busy = open.filter { $0.value != nil }.keys.sorted().randomElement(using: &random)
        let idle = open.filter { $0.value == nil }.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: arrive()
        case 2 where opening > 0: becomeOpen()
        case 3 where opening > 0:
            opening -= 1
            follow(pool.openingFailed())
        case 4, 5: if let busy { free(busy) }
        case 6: if let gone = busy ?? idle { close(gone) }
        case 7:
            guard let busy, let call = open[busy] ?? nil else { break }
            open[busy] = nil
            let order = pool.returned(call, by: busy)
            check(pool.waiting.first == call || order.send?.call == call, "a returned call goes first")
            follow(order)
        case 8:
            if let idle { follow(pool.expired(idle)) }
            guard let call = unended.sorted().randomElement(using: &random) else { break }
            if case .waiting = pool.withdraw(call) { end(call) }
        default: break
        }
        judge()
    }

    /// Lets every running call and connection attempt succeed.
    mutating func finish() {
        for _ in 0..<10_000 where !unended.isEmpty {
            if let busy = open.first(where: { $0.value != nil })?.key {
                free(busy)
            } else if opening > 0 {
                becomeOpen()
            }
            judge()
        }
        check(unended.isEmpty, "calls are lost: \(unended.sorted())")
    }

    private mutating func number() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func arrive() {
        let call = number()
        unended.insert(call)
        follow(pool.arrive(call))
    }

    private mutating func becomeOpen() {
        opening -= 1
        let connection = number()
        open[connection] = .some(nil)
        follow(pool.opened(connection))
    }

    private mutating func free(_ connection: Int) {
        if let call = open[connection] ?? nil { end(call) }
        open[connection] = .some(nil)
        follow(pool.freed(connection))
    }

    private mutating func close(_ connection: Int) {
        if let call = open[connection] ?? nil { end(call) }
        open[connection] = nil
        follow(pool.closed(connection))
    }

    private mutating func follow(_ order: HostPool<Int, Int>.Order) {
        if let (call, connection) = order.send {
            check(open[connection] == .some(nil), "\(connection) is open and free")
            check(unended.contains(call), "\(call) has not ended")
            check(!open.values.contains(call), "\(call) is on no other connection")
            open[connection] = call
        }
        for connection in order.close {
            check(open[connection] == .some(nil), "\(connection) is closed without a call")
            open[connection] = nil
        }
        for call in order.fail { end(call) }
        if order.opens { opening += 1 }
    }

    private mutating func end(_ call: Int) { check(unended.remove(call) != nil, "\(call) ends once") }

    private mutating func judge() {
        check(open.count + opening <= limit, "the bound holds")
        check(pool.opening == opening, "attempts are counted")
        check(pool.busy == open.compactMapValues { $0 }, "each call is where it was sent")
        check(Set(pool.idle) == Set(open.filter { $0.value == nil }.keys), "idle connections are known")
        check(Set(pool.waiting + pool.busy.values) == unended, "each call is in one place")
        check(pool.waiting.isEmpty || pool.idle.isEmpty, "no call waits while a connection is free")
        check(pool.waiting.isEmpty || opening + pool.busy.count > 0, "what waits has something to wait for")
    }

    private mutating func check(_ holds: Bool, _ what: String) { if !holds { faults.append(what) } }
}

struct Seeded: RandomNumberGenerator {
    var state: UInt64

    /// Next number of the SplitMix64 generator.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
