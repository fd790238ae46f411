import Postgres
import RelayCore
import TestRun
import Testing

@testable import Relay

@Suite("A claimed row that cannot be processed")
struct ParkedItemTests {
    /// One round of a worker: finishes the rows that can be read. A ledger is read when it is evaluated.
    private func work(_ items: QueuedItems) async throws -> Int {
        var finished = 0
        for item in try await items.claim() {
            do {
                try await items.finish(item)
                finished += 1
            } catch {
                await items.store.queues.fail(item.row, error)
            }
        }
        return finished
    }

    @Test(
        "affects no other row, is parked with its reason at the fifth failure, and can be replayed",
        arguments: WorkQueue.allCases)
    func poison(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            let all = try await items.claim()
            #expect(all.count == QueuedItems.count)
            try await items.store.queues.giveBack(all.map(\.row))
            let bad = all[2]
            try await items.poison(bad)
            try await items.makeDue()
            #expect(try await work(items) == QueuedItems.count - 1)
            for _ in 0..<3 {
                #expect(try await items.store.queues.parked().total == 0)
                try await items.makeDue()
                _ = try await work(items)
            }
            try await items.makeDue()
            _ = try await work(items)
            let parked = try await items.store.queues.parked()
            #expect(parked[queue] == 1 && parked.total == 1 && parked.oldest != nil)
            let listed = try await items.listed()
            #expect(listed.map(\.id) == [bad.row.name])
            #expect(
                listed.first?.reason?.contains(
                    [.subscriptions, .questions].contains(queue) ? "ledgers.state" : "cannot be") == true,
                "\(listed)")
            // No worker claims it, and each finished row was tried once.
            try await items.makeDue()
            #expect(try await items.claim().allSatisfy { $0.row.name != bad.row.name })
            #expect(try await items.tries().allSatisfy { $0 <= 6 })
            if queue == .events { #expect(try await items.tries().filter { $0 == 1 }.count == 5) }

            try await items.mend()
            #expect(try await items.replay(bad))
            #expect(try await items.store.queues.parked().total == 0)
            let again = try #require(try await items.claim().first { $0.row.name == bad.row.name })
            #expect(again.row.record == ClaimRecord())
            try await items.finish(again)
            #expect(try await items.listed().isEmpty)
        }
    }

    @Test(
        "cannot be changed by a frozen copy once another copy has claimed it",
        arguments: TestRun.all(WorkQueue.allCases, otherwise: 2))
    func frozenCopy(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            let stale = try await items.claim().map(\.row)
            try await items.makeDue()
            // Released and claimed again, so strikes and attempts are as at the first claim.
            try await items.store.queues.giveBack(try await items.claim().map(\.row))
            try await items.makeDue()
            let current = try await items.claim().map(\.row)
            #expect(current.count == QueuedItems.count && stale.count == QueuedItems.count)
            let before = try await items.database.picture(of: queue.form.table)
            for row in stale {
                await items.store.queues.fail(row, StoreError.missingRow("stale"))
                #expect(try await items.store.queues.postpone(row, trouble: "stale", by: .seconds(60)) == false)
            }
            try await items.store.queues.giveBack(stale)
            try await items.store.queues.clear(stale)
            #expect(try await items.database.picture(of: queue.form.table) == before)
            try await items.store.queues.clear(current)
            #expect(try await items.database.picture(of: queue.form.table) != before)
        }
    }

    @Test(
        "is parked when three workers ended while they had it",
        arguments: TestRun.all(WorkQueue.allCases, otherwise: 2))
    func deaths(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            for deaths in 0..<3 {
                let claimed = try await items.claim()
                #expect(claimed.count == QueuedItems.count - (deaths == 0 ? 0 : 5))
                #expect(claimed.allSatisfy { $0.row.record.strikes == deaths })
                #expect(claimed.allSatisfy { $0.row.record.isSuspect == (deaths == 2) })
                for item in claimed.dropFirst(deaths == 0 ? 1 : claimed.count) {
                    try await items.finish(item)
                    if queue == .subscriptions {
                        try await items.database.run("UPDATE ledgers SET due_at = NULL WHERE strikes = 0")
                    }
                }
                let left = queue == .subscriptions ? "strikes > 0" : "parked_at IS NULL AND due_at IS NOT NULL"
                try await items.database.run(
                    "UPDATE \(queue.form.table) SET due_at = now() - interval '1 second' WHERE \(left)")
            }
            #expect(try await items.store.queues.parked().total == 0)
            #expect(try await items.claim().isEmpty)
            #expect(try await items.store.queues.parked()[queue] == 1)
            #expect(try await items.listed().first?.reason?.contains("3 workers ended") == true)
        }
    }

    @Test(
        "gets no failure from the database, a locked vault or a shutdown",
        arguments: TestRun.all(WorkQueue.allCases, otherwise: 2))
    func outages(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            let errors: [any Error] = [
                PostgresError.vault(.locked, "not known yet"), PostgresError.vault(.connectionLost, "gone"),
                PostgresError.vault(.timedOut, "late"), CancellationError(),
            ]
            for round in 0..<12 {
                let claimed = try await items.claim()
                #expect(claimed.count == QueuedItems.count)
                let error = errors[round % errors.count]
                await items.store.queues.interrupted(claimed.map(\.row), by: error)
                try await items.makeDue()
            }
            #expect(try await items.strikes == Array(repeating: 0, count: QueuedItems.count))
            #expect(try await items.tries().allSatisfy { $0 == 0 })
            let claimed = try await items.claim()
            // A cancelled task releases its rows, whichever error it threw.
            let rows = claimed.map(\.row)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                for row in rows { await items.store.queues.interrupted([row], by: StoreError.missingRow("test")) }
            }
            await task.value
            #expect(try await items.strikes == Array(repeating: 0, count: QueuedItems.count))
            #expect(try await items.store.queues.parked().total == 0)
            #expect(
                try await items.database.count(queue.form.table, where: "failures > 0 OR parked_at IS NOT NULL") == 0)
        }
    }

    @Test("sealed by a key unknown here is left for another copy, and other rows are processed")
    func unknownKey() async throws {
        try await QueuedItems.run(.events) { items in
            try await items.database.run(
                """
                UPDATE cleeng_events SET body = set_byte(body, 10, 9), sealed_by = 9
                WHERE id = (SELECT min(id::text)::uuid FROM cleeng_events)
                """
            )
            for _ in 0..<8 {
                let claimed = try await items.claim()
                #expect(claimed.count == QueuedItems.count - 1)
                try await items.store.queues.giveBack(claimed.map(\.row))
                try await items.makeDue()
            }
            #expect(try await items.store.queues.parked().total == 0)
            #expect(try await items.tries().allSatisfy { $0 == 0 })
        }
    }

    @Test("is not written by a worker that has lost it", arguments: WorkQueue.allCases)
    func fenced(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            let old = try await items.claim()
            try await items.makeDue()
            let new = try await items.claim()
            await items.store.queues.fail(old[0].row, StoreError.missingRow("test"))
            try await items.store.queues.giveBack(old.map(\.row))
            #expect(try await items.strikes == Array(repeating: 2, count: QueuedItems.count))
            await items.store.queues.fail(new[0].row, StoreError.missingRow("test"))
            #expect(try await items.database.count(queue.form.table, where: "failures = 1") == 1)
        }
    }

    @Test("keeps its week while it is parked", arguments: [WorkQueue.events, .notifications])
    func retention(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            try await items.store.retention.makePartitions()
            try await items.database.makeWeek(daysAgo: 500)
            let claimed = try await items.claim()
            for item in claimed.dropFirst() { try await items.finish(item) }
            for table in queue == .events ? ["cleeng_events"] : ["notifications", "notification_relays"] {
                try await items.database.run("UPDATE \(table) SET accepted_on = accepted_on - 500")
            }
            try await items.database.run(
                "UPDATE \(queue.form.table) SET parked_at = now()\(queue == .notifications ? ", stands_aside = true" : "") WHERE strikes > 0"
            )
            let table: PartitionedTable = queue == .events ? .cleengEvents : .notifications
            #expect(try await Passes.run(items.store).heldBack == [table])
            try await items.database.run("UPDATE \(queue.form.table) SET parked_at = NULL")
            #expect(try await Passes.run(items.store).dropped == [table])
        }
    }

    @Test("is seen and replayed by its own publisher's operator, and by no other's", arguments: WorkQueue.allCases)
    func scope(queue: WorkQueue) async throws {
        try await QueuedItems.run(queue) { items in
            let (database, store) = (items.database, items.store)
            let item = try await items.claim()[0]
            try await database.run("UPDATE \(queue.form.table) SET parked_at = now() WHERE strikes > 0")
            if queue == .events {
                // An event that the common account signed may be about any publisher.
                #expect(try await store.queues.parked(in: .publisher(.first)).total == 0)
                #expect(try await items.listed(in: .publisher(.first)).isEmpty)
                #expect(try await items.replay(item, in: .publisher(.first)) == false)
                #expect(try await items.listed().count == QueuedItems.count)
                try await database.run("UPDATE cleeng_events SET account = 'main'")
            }
            let (own, other) = (OpsScope.publisher(.first), OpsScope.publisher("nordic"))
            #expect(try await store.queues.parked(in: other).total == 0)
            #expect(try await items.listed(in: other).isEmpty)
            #expect(try await items.replay(item, in: other) == false)
            #expect(try await store.queues.parked(in: own)[queue] == QueuedItems.count)
            #expect(try await items.listed(in: own).count == QueuedItems.count)
            #expect(try await store.audit.list(matching: AuditFilter(), in: .all).items.isEmpty)

            #expect(try await items.replay(item, in: own))
            #expect(try await store.queues.parked(in: own)[queue] == QueuedItems.count - 1)
            #expect(try await store.audit.list(matching: AuditFilter(), in: other).items.isEmpty)
            #expect(try await store.audit.list(matching: AuditFilter(), in: own).items.count == 1)
        }
    }

    @Test("does not block its lane while it is parked, and is replaced by a newer state")
    func lanes() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            let (first, second) = (
                NewDelivery.state(endpoint, 1, replaces: false), NewDelivery.state(endpoint, 2, replaces: false)
            )
            try await database.enqueue(first)
            try await database.enqueue(second)
            try await database.run(
                "UPDATE webhook_queue SET parked_at = now(), due_at = 'infinity' WHERE id = $1", .uuid(first.id.uuid))
            #expect(try await store.webhooks.claim(endpoint).map(\.id) == [second.id])
            #expect(try await store.webhooks.backlog().waiting == 1)
            #expect(try await store.webhooks.delivery(first.id)?.state == .parked)
            #expect(
                try await store.webhooks.deliveries(matching: DeliveryFilter(state: .waiting)).items.map(\.id) == [
                    second.id
                ])
            try await database.enqueue(.state(endpoint, 3))
            #expect(try await store.webhooks.delivery(first.id)?.state == .replaced)
            #expect(try await store.queues.parked().total == 0)
        }
    }
}
