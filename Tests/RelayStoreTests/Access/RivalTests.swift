import Postgres
import RelayCore
import Testing

@testable import RelayStore

@Suite("A purchase that must leave a subscription to its owner")
struct RivalTests {
    @Test("finds an owner whose grant commits between its two queries")
    func grantedMeanwhile() async throws {
        try await withStore { database, store in
            let ana = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            try await database.run("UPDATE validations SET status = 3 WHERE id = '\(ana.uuid)'")
            let ben = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            #expect(try await store.subscriptions.rival(of: ben) == nil)
            let asking = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query("LOCK TABLE pursuits IN ACCESS EXCLUSIVE MODE")
                let asking = Task { try await store.subscriptions.rival(of: ben) }
                try await database.waitUntilBlocked()
                try await database.run("UPDATE validations SET status = 1 WHERE id = '\(ana.uuid)'")
                return asking
            }
            #expect(try await asking.value == .owner)
        }
    }
}
