import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import TestRun
import Testing

@testable import Relay

/// A queue without a table.
private final class Rows: LeasedQueue {
    struct State {
        var due: [Row] = []
        var begun: [Int] = []
        var cancelled: [Int] = []
        var postponed: [Int] = []
        var interrupted: [Int] = []
        var givenBack: [Int] = []
        var left: [String] = []
        var limits: [Int] = []
        var isOpen = false
        var renews = true
        var renewals = 0
        var drainsLast = false
    }

    struct Broken: Error {}

    let policy: LeasePolicy
    let leases: Leases<Int, OnlyRoute>
    let loop: WorkLoop
    let state: NIOLockedValueBox<State>

    init(
        _ due: [Row], term: LeaseTerm = .fixed(startWithin: .seconds(5)),
        policy: LeasePolicy = LeasePolicy(wakesFrom: 1), idleTick: Duration = .milliseconds(5)
    ) {
        loop = WorkLoop(
            name: "rows", wakeup: Wakeup(), idleTick: { idleTick },
            logger: Logger(label: "rows") { _ in SwiftLogNoOpLogHandler() }, complaint: "no row can be claimed")
        state = NIOLockedValueBox(State(due: due))
        leases = Leases(term)
        self.policy = policy
    }

    func allowances() -> [OnlyRoute: ClaimAllowance<String>] {
        [.all: ClaimAllowance(limit: 2 - running, permit: "permit")]
    }

    func claim(_ allowances: [OnlyRoute: ClaimAllowance<String>]) async throws -> [Row] {
        state.withLockedValue { state in
            let limit = allowances[.all]?.limit ?? 0
            state.limits.append(limit)
            defer { state.due.removeFirst(min(limit, state.due.count)) }
            return Array(state.due.prefix(limit))
        }
    }

    /// Returns when the state is open. An id above 100 throws.
    func work(on items: [Row], _ permit: String?) async throws {
        let ids = items.map(\.lease.id)
        state.withLockedValue { $0.begun += ids }
        while !state.withLockedValue(\.isOpen) {
            guard !Task.isCancelled else {
                state.withLockedValue { $0.cancelled += ids }
                throw CancellationError()
            }
            try? await Task.sleep(for: .milliseconds(2))
        }
        if ids.contains(where: { $0 > 100 }) { throw Broken() }
    }

    func release(_ permit: String) { state.withLockedValue { $0.left.append(permit) } }
    func postpone(_ suspects: [Row]) async throws {
        state.withLockedValue { $0.postponed += suspects.map(\.lease.id) }
    }
    func interrupted(_ items: [Row], by error: any Error) async {
        state.withLockedValue { $0.interrupted += items.map(\.lease.id) }
    }
    func renew(_ leases: [Lease<Int>]) async throws -> (renewed: Set<Int>, busy: Set<Int>) {
        state.withLockedValue {
            $0.renewals += 1
            return ($0.renews ? Set(leases.map(\.id)) : [], [])
        }
    }
    func giveBack(_ leases: [Lease<Int>]) async throws {
        state.withLockedValue { $0.givenBack += leases.map(\.id) }
    }

    /// Takes as long as work runs, if it must end last.
    func drain() async {
        guard now.drainsLast else { return }
        for work in leases.with({ $0.allWork }) { _ = await work.value }
    }

    var running: Int { leases.with { $0.running } }
    var held: [Lease<Int>] { leases.with { $0.leases } }
    func covers(_ row: Row) -> Bool { leases.with { $0.covers(row.lease) } }
    func open() { state.withLockedValue { $0.isOpen = true } }
    var now: State { state.withLockedValue(\.self) }
}

@Suite("The lease engine", .timeLimit(.paced(minutes: 1)))
struct LeaseEngineTests {
    private func eventually(_ holds: () -> Bool) async throws {
        while !holds() { try await Task.sleep(for: .milliseconds(2)) }
    }

    private func running(_ rows: Rows, _ body: () async throws -> Void) async throws {
        struct Engine: Service {
            let rows: Rows
            func run() async throws { await LeaseEngine(queue: rows).run() }
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: Engine(rows: rows))], logger: rows.loop.logger))
        let task = Task { try await group.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await task.value
        try result.get()
    }

    @Test("claims as much as it has places for, and more when work has ended")
    func room() async throws {
        let rows = Rows((1...5).map { Row($0) })
        try await running(rows) {
            try await eventually { rows.now.begun.count == 2 }
            try await Task.sleep(for: .milliseconds(30))
            #expect(rows.now.begun.sorted() == [1, 2])
            rows.open()
            try await eventually { rows.now.begun.count == 5 && rows.running == 0 }
        }
        #expect(rows.now.limits.allSatisfy { $0 > 0 })
        #expect(rows.now.cancelled.isEmpty && rows.now.interrupted.isEmpty && rows.held.isEmpty)
    }

    @Test("the end of work wakes a loop without a free place")
    func wakes() async throws {
        let rows = Rows((1...3).map { Row($0) }, policy: LeasePolicy(wakesFrom: 2), idleTick: .seconds(600))
        try await running(rows) {
            try await eventually { rows.now.begun.count == 2 }
            rows.open()
            try await eventually { rows.now.begun.count == 3 && rows.running == 0 }
        }
    }

    @Test("releases the places of a claim that found nothing, and of each ended work")
    func rights() async throws {
        let rows = Rows([Row(1)])
        rows.open()
        let engine = LeaseEngine(queue: rows)
        _ = try await engine.round()
        try await eventually { rows.running == 0 }
        #expect(rows.now.left.count == 1)
        _ = try await engine.round()
        #expect(rows.now.left.count == 2)
    }

    @Test("works on one suspect at a time, and releases the others")
    func suspects() async throws {
        let rows = Rows([Row(1, isSuspect: true), Row(2, isSuspect: true)])
        let engine = LeaseEngine(queue: rows)
        let mayHaveMore = try await engine.round()
        #expect(mayHaveMore)
        #expect(rows.now.postponed == [2] && rows.running == 1)
        rows.open()
        try await eventually { rows.running == 0 }
        #expect(rows.now.begun == [1])
    }

    @Test("ends the claim of a row whose work failed, and continues with the others")
    func failure() async throws {
        let rows = Rows([Row(101), Row(2), Row(3)])
        rows.open()
        try await running(rows) { try await eventually { rows.now.begun.count == 3 && rows.running == 0 } }
        #expect(rows.now.interrupted == [101])
    }

    @Test("works on rows of one claim and route together, and waits for none")
    func batch() async throws {
        let rows = Rows([Row(101), Row(2), Row(3)], policy: LeasePolicy(wakesFrom: .max, isBatch: true))
        let engine = LeaseEngine(queue: rows)
        _ = try await engine.round()
        try await eventually { rows.now.begun == [101, 2] }
        rows.open()
        try await eventually { rows.running == 0 }
        #expect(rows.now.interrupted == [101, 2])
        let mayHaveMore = try await engine.round()
        try await eventually { rows.running == 0 }
        #expect(!mayHaveMore && rows.now.begun == [101, 2, 3] && rows.now.interrupted == [101, 2])
    }

    @Test("cancels a batch at shutdown")
    func batchAtShutdown() async throws {
        let rows = Rows([Row(1), Row(2)], policy: LeasePolicy(wakesFrom: .max, isBatch: true))
        try await running(rows) { try await eventually { rows.now.begun.count == 2 } }
        #expect(rows.now.cancelled == [1, 2] && rows.now.interrupted == [1, 2])
    }

    @Test("gives work its grace time at shutdown")
    func grace() async throws {
        let rows = Rows([Row(1)], policy: LeasePolicy(grace: .seconds(30), wakesFrom: 1))
        try await running(rows) {
            try await eventually { rows.now.begun == [1] }
            Task {
                try await Task.sleep(for: .milliseconds(50))
                rows.open()
            }
        }
        #expect(rows.now.cancelled.isEmpty)
    }

    @Test("cancels work without grace at shutdown, waits for it, and lets it release its row")
    func cancelled() async throws {
        let rows = Rows([Row(1)])
        try await running(rows) { try await eventually { rows.now.begun == [1] } }
        #expect(rows.now.cancelled == [1] && rows.now.interrupted == [1] && rows.now.givenBack.isEmpty)
    }

    @Test("releases renewed leases at shutdown, also those held elsewhere")
    func givenBack() async throws {
        let rows = Rows([], term: .renewed(.seconds(6)))
        rows.leases.with { $0.hold(Row(7).lease, since: .now) }
        try await running(rows) {}
        #expect(rows.now.givenBack == [7] && rows.held.isEmpty)
    }

    @Test("releases a renewed lease at shutdown, even if its work ends before")
    func givenBackAfterItsWork() async throws {
        let rows = Rows([Row(1)], term: .renewed(.seconds(6)))
        rows.state.withLockedValue { $0.drainsLast = true }
        try await running(rows) { try await eventually { rows.now.begun == [1] } }
        #expect(rows.now.cancelled == [1] && rows.now.givenBack == [1])
    }

    @Test("renews what it holds, and cancels work whose lease is lost")
    func lost() async throws {
        // Long, so that a process that stalls for seconds keeps the lease. Four renewals take longer than one lease
        // lasts.
        let rows = Rows([Row(1)], term: .renewed(.seconds(6)), policy: LeasePolicy(wakesFrom: 2))
        try await running(rows) {
            try await eventually { rows.now.renewals >= 4 }
            #expect(rows.now.cancelled.isEmpty && rows.covers(Row(1)))
            rows.state.withLockedValue { $0.renews = false }
            try await eventually { rows.now.cancelled == [1] }
            #expect(!rows.covers(Row(1)))
        }
    }
}
