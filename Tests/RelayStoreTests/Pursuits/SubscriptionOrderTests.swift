import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Requests for one subscription")
struct SubscriptionOrderTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    @Test("are sent one at a time, in the order of acceptance")
    func inOrder() async throws {
        try await withStore { database, store in
            let first = try await store.take(.sample(customer: ana))
            let second = try await store.take(.sample(customer: ben))
            // The older one goes first even if the newer one has been due for longer.
            try await database.run(
                "UPDATE pursuits SET due_at = now() - interval '1 hour' WHERE id = $1", .uuid(second.uuid))
            let claimed = try await store.purchases.claimDue()
            #expect(claimed.map(\.id) == [first])
            #expect(claimed[0].isSending && !claimed[0].overtakes)
            #expect(try await store.purchases.claimDue().isEmpty)

            try await store.write(claimed[0].watching(until: claimed[0].pursuit.deadline))
            let next = try await store.purchases.claimDue()
            #expect(next.map(\.id) == [second])
            // The older one was sent, so it does not wait and is not overtaken.
            #expect(next[0].isSending && !next[0].overtakes && !next[0].isOvertaken)
        }
    }

    @Test("accepted in the same microsecond by two processes are sent one after the other, too")
    func sameMicrosecond() async throws {
        try await withStore { database, store in
            for customer in [ana, ben, "cid@example.test"] { try await store.take(.sample(customer: customer)) }
            try await database.run("UPDATE pursuits SET accepted_at = (SELECT min(accepted_at) FROM pursuits)")
            var seen: Set<ValidationID> = []
            for _ in 0..<3 {
                let claimed = try await store.claimOne()
                #expect(claimed.isSending)
                seen.insert(claimed.id)
                try await store.write(claimed.rejected())
            }
            #expect(seen.count == 3)
        }
    }

    @Test("are separate for each publisher")
    func publishers() async throws {
        try await withStore { database, store in
            try await store.take(.sample(publisher: "one"))
            try await store.take(.sample(publisher: "two"))
            #expect(try await store.purchases.claimDue().filter(\.isSending).count == 2)
        }
    }

    @Test(
        "are separate for each environment: unsigned and signed purchases do not delay each other")
    func environments() async throws {
        try await withStore { database, store in
            var forged: [ValidationID] = []
            for number in 0..<3 {
                forged.append(
                    try await store.take(.sample(customer: "eve\(number)@example.test", environment: "unknown")))
            }
            let genuine = try await store.take(.sample(customer: ana))
            let second = try await store.take(.sample(customer: ben))
            let claimed = try await store.purchases.claimDue()
            #expect(Set(claimed.map(\.id)) == [forged[0], genuine])
            #expect(claimed.allSatisfy { $0.isSending && !$0.overtakes && !$0.isOvertaken })
            let own = try #require(claimed.first { $0.id == genuine })
            try await store.write(own.watching(until: own.pursuit.deadline))
            #expect(
                try await store.purchases.claimDue().map(\.id) == [second], "the next of this environment, and no other"
            )
        }
    }

    @Test("one of another environment is not overtaken")
    func overtakingByEnvironment() async throws {
        try await withStore { database, store in
            let genuine = try await store.takeAndClaim(.sample(customer: ana))
            try await store.write(genuine.failed(retryAt: genuine.pursuit.deadline))
            let forged = try await store.takeAndClaim(.sample(customer: ben, environment: "unknown"))
            #expect(forged.isSending && !forged.overtakes)
            #expect(try await store.purchases.claimOvertaken(by: forged, lease: .seconds(60)).isEmpty)
            try await store.write(forged.watching(until: forged.pursuit.deadline + .seconds(60)))
            try await database.letPass(seconds: 61)
            let again = try #require(try await store.purchases.claimDue().first { $0.id == genuine.id })
            #expect(again.isSending && !again.isOvertaken)
        }
    }

    @Test("have one sender at most, with concurrent claims", arguments: 1...3)
    func concurrentClaims(round: Int) async throws {
        try await withStores(3) { database, stores in
            for number in 0..<12 { try await stores[0].take(.sample(customer: "c\(number)@example.test")) }
            let oldest = try await database.value(
                "SELECT id FROM pursuits ORDER BY accepted_at LIMIT 1", as: UUID.self)
            let claimed = try await withThrowingTaskGroup { group in
                for number in 0..<12 { group.addTask { try await stores[number % 3].claimPatiently() } }
                return try await group.reduce(into: [ClaimedPursuit]()) { $0 += $1 }
            }
            #expect(claimed.map(\.id.uuid) == [oldest])
            #expect(claimed.first?.isSending == true)
        }
    }

    @Test("have one sender, too, if the older one is the probe of a closed route", arguments: [1, 2])
    func probe(shutRoutes: Int) async throws {
        try await withStore { database, store in
            var registering = try Acceptance.sample(customer: ana)
            (registering.driver, registering.cleengCustomer) = (.storekit2, 7)
            let older = try await store.take(registering)
            let newer = try await store.take(.sample(customer: ben))
            let (route, other) = (Pursuit.Phase.registering(.storekit2), Pursuit.Phase.forwarding)
            let shut = shutRoutes == 1 ? [route] : [route, other]
            // While nothing probes the route, the newer one does not wait for it.
            let passed = try await store.purchases.claimDue([other: 9], shut: [route], lease: RelayStore.lease)
            #expect(passed.map(\.id) == [newer])
            try await store.write(passed[0].failed(retryAt: passed[0].pursuit.acceptedAt))
            let claimed = try await store.purchases.claimDue(
                [route: 1, other: 9], shut: Set(shut), lease: RelayStore.lease)
            #expect(claimed.map(\.id) == [older] && claimed[0].isSending)
        }
    }

    @Test("a claim that conflicts with another sender loses nothing")
    func collision() async throws {
        try await withStores(2) { database, stores in
            let older = try await stores[0].takeAndClaim(.sample(customer: ana))
            try await stores[0].write(older.failed(retryAt: older.pursuit.deadline))
            let newer = try await stores[0].take(.sample(customer: ben))
            let other = try await stores[0].take(.sample(subscription: "2"))
            // Another copy claims the older one in a transaction that has not committed yet.
            let claiming = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(
                    SQL("UPDATE pursuits SET sending = true, fence = 2 WHERE id = $1", [.uuid(older.id.uuid)])
                )
                let claiming = Task { await postgresError { try await stores[1].purchases.claimDue() } }
                try await database.waitUntilBlocked()
                return claiming
            }
            #expect(await claiming.value?.constraint == "pursuits_one_sender")
            #expect(try await database.count("pursuits", where: "fence = 0 AND owner IS NULL AND NOT sending") == 2)
            // The second run takes the pursuits that may be claimed.
            #expect(try await stores[1].purchases.claimDue().map(\.id) == [other])
            try await database.run("UPDATE pursuits SET sending = false WHERE id = $1", .uuid(older.id.uuid))
            #expect(try await stores[1].purchases.claimDue().map(\.id) == [newer])
        }
    }

    @Test("a newer one overtakes an older one that waits for its next try")
    func overtaking() async throws {
        try await withStore { database, store in
            let older = try await store.takeAndClaim(.sample(customer: ana))
            try await store.write(older.failed(retryAt: older.pursuit.deadline))
            let newer = try await store.takeAndClaim(.sample(customer: ben))
            #expect(newer.isSending && newer.overtakes && !newer.isOvertaken)

            let overtaken = try await store.purchases.claimOvertaken(by: newer, lease: .seconds(60))
            #expect(overtaken.map(\.id) == [older.id])
            #expect(overtaken[0].isOvertaken && !overtaken[0].isSending && !overtaken[0].overtakes)
            #expect(overtaken[0].fence == older.fence + 1)
            try await store.write(overtaken[0].superseded())
            let ended = try #require(try await store.purchases.validation(older.id))
            #expect(ended.status == .timedOut)
            #expect(ended.reason == "superseded")
            // The failed try may have reached Cleeng: the relay looks for its grant and never sends it again.
            let watched = try await store.claimOne()
            #expect(watched.id == older.id)
            #expect(watched.pursuit.phase == .watching && !watched.isSending)
            try await store.write(watched.granted())
            #expect(try await store.purchases.validation(older.id)?.status == .granted)
        }
    }

    @Test("an overtaken one that was never sent has ended")
    func overtakenUntried() async throws {
        try await withStore { database, store in
            let older = try await store.takeAndClaim(.sample(customer: ana))
            var putBack = older.failed(retryAt: older.pursuit.deadline)
            putBack.pursuit.forwards = 0
            try await store.write(putBack)
            let newer = try await store.takeAndClaim(.sample(customer: ben))
            let overtaken = try #require(try await store.purchases.claimOvertaken(by: newer, lease: .seconds(60)).first)
            try await store.write(overtaken.superseded())
            #expect(try await database.count("pursuits") == 1)
        }
    }

    @Test("an older one is taken from a worker that only writes its deadline, so that it is not sent later")
    func overtakingAHeldOne() async throws {
        try await withStores(2) { database, stores in
            let older = try await stores[0].takeAndClaim(.sample(customer: ana))
            try await stores[0].write(older.failed(retryAt: older.pursuit.deadline + .seconds(60)))
            let newer = try await stores[0].takeAndClaim(.sample(customer: ben))
            try await database.makeDue(older.id)
            let held = try #require(try await stores[1].purchases.claimOvertaken(by: newer, lease: .seconds(60)).first)
            #expect(try await stores[0].purchases.claimDue().isEmpty)
            let again = try #require(try await stores[0].purchases.claimOvertaken(by: newer, lease: .seconds(60)).first)
            #expect(try await stores[1].outcome(of: held.rejected()) == .leaseLost)
            try await stores[0].write(again.superseded())
        }
    }

    @Test("claiming overtaken ones leaves those that were sent, are newer, or belong to another publisher")
    func overtakenOnly() async throws {
        try await withStore { database, store in
            let sent = try await store.takeAndClaim(.sample(customer: "a@example.test"))
            try await store.write(sent.watching(until: sent.pursuit.deadline))
            let waiting = try await store.takeAndClaim(.sample(customer: "b@example.test"))
            try await store.write(waiting.failed(retryAt: waiting.pursuit.deadline))
            let foreign = try await store.takeAndClaim(.sample(customer: "c@example.test", publisher: "other"))
            try await store.write(foreign.failed(retryAt: foreign.pursuit.deadline))
            let newer = try await store.takeAndClaim(.sample(customer: "d@example.test"))
            try await store.take(.sample(customer: "e@example.test"))
            #expect(try await store.purchases.claimOvertaken(by: newer, lease: .seconds(60)).map(\.id) == [waiting.id])
        }
    }

    /// State of a newer request after it was sent.
    enum Fate: CaseIterable { case watched, failed, granted }

    @Test("once a newer one was sent, an older one that is due is overtaken", arguments: Fate.allCases)
    func overtaken(fate: Fate) async throws {
        try await withStore { database, store in
            let older = try await store.takeAndClaim(.sample(customer: ana))
            try await store.write(older.failed(retryAt: older.pursuit.deadline))
            let newer = try await store.takeAndClaim(.sample(customer: ben))
            switch fate {
            case .watched: try await store.write(newer.watching(until: newer.pursuit.deadline))
            case .failed: try await store.write(newer.failed(retryAt: newer.pursuit.deadline))
            case .granted: try await store.write(newer.granted())
            }
            try await database.letPass(seconds: 61)
            let again = try #require(try await store.purchases.claimDue().first { $0.id == older.id })
            #expect(again.isOvertaken)
        }
    }

    @Test("a newer one that Cleeng refused overtakes none")
    func refusedNewer() async throws {
        try await withStore { database, store in
            let older = try await store.takeAndClaim(.sample(customer: ana))
            try await store.write(older.failed(retryAt: older.pursuit.deadline))
            try await store.write(try await store.takeAndClaim(.sample(customer: ben)).rejected())
            try await database.letPass(seconds: 61)
            let again = try await store.claimOne()
            #expect(again.id == older.id)
            #expect(again.isSending && !again.isOvertaken)
        }
    }

    @Test("one that is claimed only for its deadline may not send")
    func deadlineOnly() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(.sample(customer: ana))
            var write = first.failed(retryAt: first.pursuit.deadline + .seconds(60))
            write.next = .rest(until: first.pursuit.deadline)
            try await store.write(write)
            try await database.letPass(seconds: 60)
            let woken = try await store.claimOne()
            #expect(!woken.isSending && !woken.overtakes)
            try await store.write(woken.timedOut(restingUntil: woken.pursuit.deadline))
            try await database.letPass(seconds: 60)
            #expect(try await store.claimOne().isSending)
        }
    }

    @Test("one that a dead worker may have sent precedes an older one that became due since")
    func diedWhileSending() async throws {
        try await withStores(2) { database, stores in
            let older = try await stores[0].takeAndClaim(.sample(customer: ana))
            try await stores[0].write(older.failed(retryAt: older.pursuit.deadline))
            // The worker dies between the claim and the end of the overtaken request.
            let newer = try await stores[0].takeAndClaim(.sample(customer: ben))
            try await database.makeDue(newer.id)
            try await database.letPass(seconds: 61)
            let claimed = try await stores[1].claimOne()
            #expect(claimed.id == newer.id)
            #expect(claimed.isSending && claimed.overtakes)
            #expect(claimed.pursuit.forwards == 1, "what the dead worker may have sent counts")
            #expect(
                try await stores[1].purchases.claimOvertaken(by: claimed, lease: .seconds(60)).map(\.id) == [older.id])
        }
    }

    @Test(
        "one that was released, perhaps sent, precedes an older one that was committed after its claim"
    )
    func givenBackWhileSending() async throws {
        try await withStores(2) { database, stores in
            let newer = try await stores[0].takeAndClaim(.sample(customer: ben))
            let late = try await stores[0].take(.sample(customer: ana))
            try await database.run(
                "UPDATE pursuits SET accepted_at = accepted_at - interval '1 second' WHERE id = $1", .uuid(late.uuid))
            try await stores[0].purchases.giveBack([(newer.id, newer.fence)])
            let claimed = try await stores[1].claimOne()
            #expect(claimed.id == newer.id)
            #expect(claimed.isSending && claimed.overtakes)
        }
    }
}

extension RelayStore {
    /// Claims like a worker: repeats a claim that conflicted with another sender.
    func claimPatiently() async throws -> [ClaimedPursuit] {
        while true {
            do {
                return try await purchases.claimDue()
            } catch let error as PostgresError where error.constraint == "pursuits_one_sender" {
                continue
            }
        }
    }
}
