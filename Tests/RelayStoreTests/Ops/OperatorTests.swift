import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("What operators read and do")
struct OperatorTests {
    @Test("the audit log is read newest first, in pages, by action and actor")
    func audit() async throws {
        try await withStore { database, store in
            for number in 0..<5 {
                let actor = number.isMultiple(of: 2) ? "Nora (k1)" : "root (command line)"
                try await store.audit.add(
                    AuditEntry(actor: actor, .keyRevoked, "k\(number)", of: nil, reason: "r\0\(number)"))
                try await database.run(
                    "UPDATE audit_log SET at = now() + $2::int4 * interval '1 second' WHERE target = $1",
                    .text("k\(number)"), .int4(Int32(number)))
            }
            var filter = AuditFilter(limit: 2)
            var targets: [String] = []
            repeat {
                let page = try await store.audit.list(matching: filter)
                targets += page.items.map(\.target.value)
                filter.cursor = page.next.flatMap { AuditCursor($0.description) }
            } while filter.cursor != nil && targets.count < 9
            #expect(targets == ["k4", "k3", "k2", "k1", "k0"])
            let hers = try await store.audit.list(matching: AuditFilter(actor: "nora")).items
            #expect(hers.map(\.target.value) == ["k4", "k2", "k0"] && hers[0].reason?.value == "r\u{FFFD}4")
            #expect(try await store.audit.list(matching: AuditFilter(action: .signedIn)).items.isEmpty)
            #expect(try await store.audit.list(matching: AuditFilter(target: "k1")).items.count == 1)
            try await database.run("UPDATE audit_log SET at = now() - interval '2 days' WHERE target < 'k3'")
            #expect(try await store.audit.prune(olderThan: .seconds(86_400)) == 3)
        }
    }

    @Test("an operator's retry and abandon are audited with their reasons in the same transaction")
    func actions() async throws {
        try await withStore { _, store in
            let id = try await store.take(.sample(subscription: "s"))
            try await store.ops.abandon(id, by: "Nora (k1)", reason: "ticket 1")
            try await store.ops.retry(id, by: "Nora (k1)", reason: "ticket 2")
            await #expect(throws: OpsRefusal.self) {
                try await store.ops.retry(
                    ValidationID(bucket: id.bucket, day: id.day, high: 1, low: 1), by: "x", reason: "y")
            }
            let items = try await store.audit.list(matching: AuditFilter(target: "\(id)")).items
            #expect(Set(items.map(\.action)) == ["validation.abandon", "validation.retry"])
            #expect(Set(items.compactMap(\.reason?.value)) == ["ticket 1", "ticket 2"])
            #expect(try await store.audit.list(matching: AuditFilter()).items.count == 2)
        }
    }

    @Test("counts are added to their minute, and read in steps up to now")
    func activity() async throws {
        try await withStore { database, store in
            try await store.activity.add([.accepted: 2, .granted: 0])
            try await store.activity.add([.accepted: 3, .granted: 1])
            try await database.run("UPDATE activity SET minute = minute - interval '20 minutes' WHERE kind = 1")
            try await store.activity.add([.rejected: 1])
            try await database.run("UPDATE activity SET minute = now() - interval '3 hours' WHERE kind = 2")
            let series = try #require(try await store.activity.list(step: .seconds(300), steps: 12, in: .all))
            #expect(series.counts[.accepted]?.count == 12 && series.counts[.accepted]?.last == 5)
            #expect(series.counts[.granted]?[7] == 1 && series.counts[.rejected] == nil)
            try await database.run("UPDATE activity SET minute = now() - interval '15 days' WHERE kind = 2")
            #expect(try await store.activity.prune() == 1)
        }
    }

    @Test("a waiting purchase keeps its place when an operator retries it")
    func place() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample(subscription: "s"))
            try await database.run("UPDATE pursuits SET due_at = now() - interval '5 minutes'")
            try await store.ops.retry(id, by: "Nora (k1)", reason: "ticket 3")
            let ages = try await database.column(
                "SELECT extract(epoch FROM now() - due_at)::int4 FROM pursuits", as: Int32.self)
            #expect(ages.count == 1 && (ages.first ?? 0) >= 300)
        }
    }

    @Test("validations are found by the transaction that their app or receipt names, of whichever publisher")
    func transaction() async throws {
        try await withStore { _, store in
            _ = try await store.publishers.add("south")
            let one = try await store.take(.sample(subscription: "2000000000000075"))
            let other = try await store.take(.sample(subscription: "2000000000000075", publisher: "south"))
            _ = try await store.take(.sample(subscription: "2000000000000076"))
            var filter = ValidationFilter(originalTransactionID: "2000000000000075")
            #expect(Set(try await store.ops.validations(matching: filter).items.map(\.id)) == [one, other])
            filter.limit = 1
            let page = try await store.ops.validations(matching: filter)
            #expect(page.items.count == 1 && page.next != nil)
            filter.originalTransactionID = "1"
            #expect(try await store.ops.validations(matching: filter).items.isEmpty)
        }
    }

    @Test("purchases that Cleeng has not accepted are listed oldest first, in pages")
    func waiting() async throws {
        try await withStore { database, store in
            var ids: [ValidationID] = []
            for number in 0..<5 {
                let id = try await store.take(.sample(subscription: "s\(number)"))
                try await database.run(
                    "UPDATE pursuits SET accepted_at = now() - $2::int4 * interval '1 minute', phase = $3 WHERE id = $1",
                    .uuid(id.uuid), .int4(Int32(number)), .int2(number == 2 ? 1 : 0))
                ids.append(id)
            }
            var filter = ValidationFilter(selection: .waiting, limit: 2)
            var found: [ValidationID] = []
            repeat {
                let page = try await store.ops.validations(matching: filter)
                found += page.items.map(\.id)
                filter.cursor = page.next
            } while filter.cursor != nil && found.count < 9
            #expect(found == [ids[4], ids[3], ids[1], ids[0]])
        }
    }
}
