import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A purchase that must leave a subscription to its owner")
struct PrecedenceTests {
    @Test("finds an owner whose grant commits between its two queries")
    func grantedMeanwhile() async throws {
        try await withStore { database, store in
            let ana = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            try await database.run("UPDATE validations SET status = 3 WHERE id = '\(ana.uuid)'")
            let ben = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            #expect(try await store.subscriptions.precedence(over: ben) == nil)
            let asking = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query("LOCK TABLE pursuits IN ACCESS EXCLUSIVE MODE")
                let asking = Task { try await store.subscriptions.precedence(over: ben) }
                try await database.waitUntilBlocked()
                try await database.run("UPDATE validations SET status = 1 WHERE id = '\(ana.uuid)'")
                return asking
            }
            #expect(try await asking.value == .owner)
        }
    }

    @Test("is judged by everything that Cleeng could give to its sender")
    func takes() async throws {
        try await withStore { _, store in
            _ = try await store.takeAndGrant(.sample(customer: "ana@example.test", subscription: "a"))
            let takes = [
                SubscriptionName(publisher: "main", environment: "Production", originalTransactionID: "a"),
                SubscriptionName(publisher: "main", environment: "Sandbox", originalTransactionID: "c, \"d\""),
            ]
            var free = try Acceptance.sample(customer: "ben@example.test", subscription: "e", environment: "unknown")
            free.takes = takes
            #expect(try await store.takeAndClaim(free).takes.isEmpty, "subscriptions move freely")
            var sample = try Acceptance.sample(customer: "cem@example.test", subscription: "b", environment: "unknown")
            (sample.keepsOwner, sample.takes) = (true, takes)
            #expect(try await store.subscriptions.runningOwners(of: [sample.subscription]).isEmpty)
            let cem = try await store.takeAndClaim(sample)
            #expect(cem.takes == sample.takes)
            #expect(try await store.subscriptions.precedence(over: cem) == .owner)
            #expect(try await store.subscriptions.isHeldByAnother(cem, synchronization: nil))
        }
    }

    @Test("is another customer's if that customer began the synchronization or owns the subscription")
    func heldByAnother() async throws {
        try await withStore { database, store in
            let ana = try await store.takeAndClaim(.sample(customer: "ana@example.test"))
            let follow = """
                UPDATE pursuits SET phase = 6, sending = false, owner = NULL, synchronization = 's-1',
                    due_at = now() + interval '1 hour'
                WHERE id = '\(ana.id.uuid)'
                """
            try await database.run(follow)
            let ben = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            #expect(try await store.subscriptions.isHeldByAnother(ben, synchronization: "s-1"))
            #expect(try await !store.subscriptions.isHeldByAnother(ana, synchronization: "s-1"))
            // The customer who found the synchronization did not begin it.
            try await database.run("UPDATE pursuits SET found_synchronization = true WHERE id = '\(ana.id.uuid)'")
            #expect(try await !store.subscriptions.isHeldByAnother(ben, synchronization: "s-1"))
            // No customer owns the subscription yet. It does not matter who began another synchronization.
            for name in ["s-2", nil] {
                #expect(try await !store.subscriptions.isHeldByAnother(ben, synchronization: name))
            }
        }
        try await withStore { _, store in
            _ = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            let ben = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            #expect(try await store.subscriptions.isHeldByAnother(ben, synchronization: "s-2"))
            #expect(try await store.subscriptions.isHeldByAnother(ben, synchronization: nil))
        }
        try await withStore { _, store in
            _ = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            let again = try await store.takeAndClaim(.sample(customer: "ana@example.test", offer: "S598742062_US"))
            #expect(try await !store.subscriptions.isHeldByAnother(again, synchronization: "s-2"))
        }
    }
}
