import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Separate claims for sends and reads")
struct ClaimByKindTests {
    /// Four due pursuits that must be sent, and four that must be read.
    private func eight(_ database: TestDatabase, _ store: RelayStore) async throws
        -> (toSend: [ValidationID], toRead: [ValidationID])
    {
        var toRead: [ValidationID] = []
        for number in 0..<4 {
            let claimed = try await store.takeAndClaim(.sample(subscription: "read-\(number)"))
            try await store.write(claimed.watching(until: claimed.pursuit.deadline))
            toRead.append(claimed.id)
        }
        var toSend: [ValidationID] = []
        for number in 0..<4 { toSend.append(try await store.take(.sample(subscription: "send-\(number)"))) }
        for (place, id) in (toSend + toRead).enumerated() {
            try await database.run(
                "UPDATE pursuits SET due_at = now() - $2::int4 * interval '1 second' WHERE id = $1", .uuid(id.uuid),
                .int4(Int32(100 - place)))
        }
        return (toSend, toRead)
    }

    private func claim(_ store: RelayStore, _ forwards: Int, _ reads: Int) async throws -> Set<ValidationID> {
        Set(
            try await store.purchases.claimDue([.forwarding: forwards, .watching: reads], lease: RelayStore.lease).map(
                \.id))
    }

    @Test("claims of each kind at most the limit, the oldest first, however many of the other are due")
    func apart() async throws {
        try await withStore { database, store in
            let (toSend, toRead) = try await eight(database, store)
            #expect(try await claim(store, 0, 0) == [])
            #expect(try await claim(store, 0, 1) == [toRead[0]])
            #expect(try await claim(store, 1, 0) == [toSend[0]])
            #expect(try await claim(store, 2, 1) == [toSend[1], toSend[2], toRead[1]])
            #expect(try await claim(store, 100, 100) == [toSend[3], toRead[2], toRead[3]])
        }
    }

    @Test("find the few of one kind without reading the many of the other")
    func plan() async throws {
        try await withStore { database, store in
            _ = try await acceptAll(
                try (0..<1_000).map { try Acceptance.sample(subscription: "\($0)") }, by: [store.intake()])
            let claimed = try await store.purchases.claimDue(limit: 100)
            for claimed in claimed { try await store.write(claimed.watching(until: claimed.soon)) }
            try await database.run("UPDATE pursuits SET due_at = now() - interval '1 second'")
            try await database.run("VACUUM ANALYZE pursuits")
            for phase in [0, 1, 3, 4] {
                let plan = try await database.column(
                    """
                    EXPLAIN SELECT due.id
                    FROM \(PublisherScope.publishers.text)
                    CROSS JOIN LATERAL (
                        SELECT p.id FROM pursuits p
                        WHERE p.publisher = pub.id AND p.phase = \(phase) AND p.due_at <= now()
                        ORDER BY p.due_at LIMIT 10 FOR UPDATE OF p SKIP LOCKED) AS due
                    """, as: String.self)
                let part = plan.drop { !$0.contains("LockRows") }
                #expect(part.contains { $0.contains("Index Scan using pursuits_due on") }, "\(plan)")
                #expect(!part.contains { $0.contains("Sort") || $0.contains("Filter") }, "\(plan)")
            }
        }
    }

    @Test("claim pending ones past their deadline only for writing, and only of the named phases")
    func expired() async throws {
        try await withStore { database, store in
            let (toSend, toRead) = try await eight(database, store)
            #expect(
                try await store.purchases.claimExpired(phases: [.forwarding], limit: 9, lease: RelayStore.lease).isEmpty
            )
            try await database.run(
                "UPDATE pursuits SET deadline = now() WHERE id = ANY ($1::uuid[])",
                .uuidArray([toSend[0], toSend[1], toRead[0]].map(\.uuid)))
            // A dead worker left it marked as sending: it may have been sent, which only its next claim takes into
            // account.
            try await database.run("UPDATE pursuits SET sending = true WHERE id = $1", .uuid(toSend[1].uuid))
            let expired = try await store.purchases.claimExpired(
                phases: [.forwarding], limit: 9, lease: RelayStore.lease)
            #expect(expired.map(\.id) == [toSend[0]])
            #expect(expired.allSatisfy { !$0.isSending })
            try await store.write(expired[0].timedOut(restingUntil: expired[0].soon))
            try await database.makeDue(toSend[0])
            let again = try await store.purchases.claimExpired(
                phases: [.forwarding, .watching], limit: 9, lease: RelayStore.lease)
            #expect(again.map(\.id) == [toRead[0]])
            #expect(try await store.status(of: toSend[0]) == .timedOut)
            #expect(try await claim(store, 100, 0) == Set(toSend))
        }
    }
}
