import Testing

@testable import Relay

struct Row: LeasedItem {
    var lease: Lease<Int>
    var isSuspect: Bool

    init(_ id: Int, fence: Int32 = 1, isSuspect: Bool = false) {
        lease = Lease(id: id, fence: fence)
        self.isSuspect = isSuspect
    }
}

@Suite("Leases of a queue")
struct LeaseTableTests {
    private typealias Table = LeaseTable<Int, String, String>

    private let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("work counts in its route until it ends")
    func routes() {
        var table = Table(.fixed(startWithin: .seconds(5)))
        table.begin(Row(1).lease, in: "a", since: at(0), "a")
        table.begin(Row(2).lease, in: "a", since: at(0), "a")
        table.begin(Row(3).lease, in: "b", since: at(0), "b")
        #expect(table.running == 3 && table.running(in: "a") == 2 && table.running(in: "c") == 0)
        #expect(table.end(Row(1).lease) == 2)
        #expect(table.end(Row(1).lease) == 0)
        #expect(table.end(Row(2).lease) == 1)
        #expect(table.running == 1 && table.running(in: "a") == 0)
        #expect(table.leases == [Row(3).lease])
    }

    @Test("one suspect is worked on at a time")
    func suspects() {
        var table = Table(.fixed(startWithin: .seconds(5)))
        let first = table.admit([Row(1, isSuspect: true), Row(2), Row(3, isSuspect: true)])
        #expect(first.admitted.map(\.lease.id) == [1, 2] && first.postponed.map(\.lease.id) == [3])
        for row in first.admitted { table.begin(row.lease, in: "a", since: at(0), "a") }
        table.end(Row(2).lease)
        #expect(table.admit([Row(3, isSuspect: true)]).admitted.isEmpty)
        table.end(Row(1).lease)
        #expect(table.admit([Row(3, isSuspect: true)]).admitted.map(\.lease.id) == [3])
    }

    @Test("a lease covers its own claim, and not longer than it lasts")
    func covers() {
        var table = Table(.fixed(startWithin: .seconds(5)))
        table.hold(Row(1).lease, since: at(0))
        #expect(table.covers(Row(1).lease, at: at(4)))
        #expect(!table.covers(Row(1).lease, at: at(5)))
        table.hold(Row(1, fence: 2).lease, since: at(4))
        #expect(!table.covers(Row(1).lease, at: at(4)))
        table.drop(Row(1).lease)
        #expect(table.covers(Row(1, fence: 2).lease, at: at(6)))
        table.drop(Row(1, fence: 2).lease)
        #expect(!table.covers(Row(1, fence: 2).lease, at: at(6)))
    }

    @Test("a lease that is not renewed is lost at once, and its work counts as running until it ends")
    func lost() {
        var table = Table(.fixed(startWithin: .seconds(5)))
        for id in 1...3 { table.begin(Row(id).lease, in: "a", since: at(0), "work \(id)") }
        table.renew([Row(1).lease, Row(2).lease], renewed: [1], since: at(2), at: at(2))
        #expect(table.takeLost(at: at(2)) == ["work 2"])
        #expect(table.takeLost(at: at(5)) == ["work 3"])
        #expect(table.covers(Row(1).lease, at: at(6)))
        #expect(table.running(in: "a") == 3)
        #expect(table.takeAll() == [Row(1).lease])
        #expect(table.leases.isEmpty)
    }

    @Test("a renewal of an older claim does not change a newer one")
    func renewalOfOlder() {
        var table = Table(.fixed(startWithin: .seconds(5)))
        table.hold(Row(1, fence: 2).lease, since: at(4))
        table.renew([Row(1, fence: 1).lease], renewed: [], since: at(2), at: at(2))
        #expect(table.covers(Row(1, fence: 2).lease, at: at(8)))
    }

    @Test("a shutdown waits for work, and no longer than its grace")
    func shutdown() {
        var table = Table(.fixed(startWithin: .seconds(5)))
        #expect(!table.waits(at: at(0), graceEnd: at(4)))
        table.hold(Row(1).lease, since: at(0))
        #expect(!table.waits(at: at(0), graceEnd: at(4)))
        table.begin(Row(2).lease, in: "a", since: at(0), "work")
        #expect(table.waits(at: at(3), graceEnd: at(4)))
        #expect(!table.waits(at: at(4), graceEnd: at(4)))
        table.end(Row(2).lease)
        #expect(!table.waits(at: at(3), graceEnd: at(4)))
    }

    @Test("a renewed lease ends a sixth early; a fixed one's work starts in time")
    func terms() {
        #expect(LeaseTerm.renewed(.seconds(6)).end(after: start) == at(5))
        #expect(LeaseTerm.fixed(startWithin: .seconds(5)).end(after: start) == at(5))
    }

    @Test("more work may be due if a route returned as much as requested, except after a probe")
    func more() {
        #expect(ClaimAllowance<Never>(limit: 2).mayHaveMore(after: 2))
        #expect(!ClaimAllowance<Never>(limit: 2).mayHaveMore(after: 1))
        #expect(!ClaimAllowance<Never>(limit: 0).mayHaveMore(after: 0))
        #expect(!ClaimAllowance<Never>(limit: 1, isProbe: true).mayHaveMore(after: 1))
    }
}
