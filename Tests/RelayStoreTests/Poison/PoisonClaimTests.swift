import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A row that cannot be read")
struct PoisonClaimTests {
    /// A fault in a pursuit's row, as SQL, and a word of the reason that ops shows.
    enum Poison: String, CaseIterable {
        case status = "UPDATE pursuits SET status = 9 WHERE id = $1"
        case time = "UPDATE pursuits SET accepted_at = 'infinity' WHERE id = $1"
        case deadline = "UPDATE pursuits SET deadline = '-infinity' WHERE id = $1"
        case validation = "DELETE FROM validations WHERE id = $1"

        var word: String {
            switch self {
            case .status: "status"
            case .time: "accepted_at"
            case .deadline: "deadline"
            case .validation: "validation"
            }
        }
    }

    @Test("is parked with a reason, and its neighbours are claimed", arguments: Poison.allCases)
    func neighbours(poison: Poison) async throws {
        try await withStore { database, store in
            var ids: [ValidationID] = []
            for number in 0..<3 { ids.append(try await store.take(.sample(subscription: "\(number)"))) }
            try await database.run(poison.rawValue, .uuid(ids[1].uuid))
            let claimed = try await store.purchases.claimDue()
            #expect(Set(claimed.map(\.id)) == [ids[0], ids[2]])
            let parked = try await store.ops.validations(matching: ValidationFilter(selection: .parked)).items
            #expect(parked.map(\.id.uuid) == [ids[1].uuid])
            #expect(parked[0].parking?.reason.contains(poison.word) == true, "\(parked[0])")
            #expect(try await store.ops.backlog().0.parked == 1)
            // It stays parked.
            #expect(try await store.purchases.claimDue().isEmpty)
        }
    }

    @Test("is repaired by a retry from its validation", arguments: [Poison.status, .time, .deadline])
    func healed(poison: Poison) async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await database.run(poison.rawValue, .uuid(id.uuid))
            #expect(try await store.purchases.claimDue().isEmpty)
            try await store.ops.retry(id, by: "ops", reason: "again")
            #expect(try await store.ops.detail(id)?.parking == nil)
            let claimed = try await store.claimOne()
            #expect(claimed.isSending && claimed.pursuit.status == .pending && claimed.strikes == 0)
            try await store.write(claimed.granted())
            #expect(try await store.status(of: id) == .granted)
        }
    }

    @Test("a pursuit without its validation can only be abandoned")
    func outlived() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            try await database.run("DELETE FROM validations")
            #expect(try await store.purchases.claimDue().isEmpty)
            await #expect(throws: OpsRefusal.unknown) { try await store.ops.retry(id, by: "ops", reason: "") }
            try await store.ops.abandon(id, by: "ops", reason: "")
            #expect(try await database.count("pursuits") == 0)
            await #expect(throws: OpsRefusal.unknown) { try await store.ops.abandon(id, by: "ops", reason: "") }
        }
    }

    @Test("a parked pursuit of a granted validation can be abandoned; the grant stays")
    func grantedWithout() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await database.run(
                "UPDATE validations SET status = 1, settled_at = now(), evidence = '{}'")
            await #expect(throws: OpsRefusal.status(.granted)) {
                try await store.ops.abandon(claimed.id, by: "ops", reason: "")
            }
            await #expect(throws: StoreError.self) { try await store.outcome(of: claimed.rejected()) }
            try await store.purchases.park(claimed, why: "test")
            await #expect(throws: OpsRefusal.status(.granted)) {
                try await store.ops.retry(claimed.id, by: "ops", reason: "")
            }
            try await store.ops.abandon(claimed.id, by: "ops", reason: "")
            #expect(try await store.status(of: claimed.id) == .granted)
            #expect(try await database.count("pursuits") == 0)
            #expect(try await store.ops.detail(claimed.id)?.timeline.last?.event.kind == .abandoned)
        }
    }

    @Test("among a customer's other pursuits affects none of them")
    func siblings() async throws {
        try await withStore { database, store in
            var ids: [ValidationID] = []
            for number in 0..<3 {
                let claimed = try await store.takeAndClaim(.sample(subscription: "\(number)"))
                try await store.write(claimed.watching(until: claimed.pursuit.deadline))
                ids.append(claimed.id)
            }
            try await database.run(Poison.status.rawValue, .uuid(ids[1].uuid))
            let key = CustomerKey(publisher: "main", customer: "ana@example.test")
            let siblings = try await store.purchases.claimSiblings(of: [key], lease: .seconds(60))
            #expect(Set(siblings.map(\.id)) == [ids[0], ids[2]])
            #expect(try await store.ops.detail(ids[1])?.parking?.reason.contains("status") == true)
        }
    }

    @Test("that must be overtaken is parked, and the newer request is sent")
    func overtaken() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample(customer: "ana@example.test"))
            try await store.write(old.failed(retryAt: old.pursuit.deadline))
            let new = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            #expect(new.overtakes)
            try await database.run(Poison.status.rawValue, .uuid(old.id.uuid))
            #expect(try await store.purchases.claimOvertaken(by: new, lease: .seconds(60)).isEmpty)
            try await store.write(new.granted())
            // It cannot be sent any more, since the newer request owns the subscription.
            await #expect(throws: OpsRefusal.superseded) { try await store.ops.retry(old.id, by: "ops", reason: "") }
        }
    }

    @Test("in a batch of settlements fails alone")
    func settlements() async throws {
        try await withStore { database, store in
            for number in 0..<6 {
                try await store.take(.sample(customer: "c\(number)@example.test", subscription: "\(number)"))
            }
            let claimed = try await store.purchases.claimDue()
            try await database.run(
                "UPDATE validations SET status = 2, settled_at = now() WHERE id = $1", .uuid(claimed[2].id.uuid))
            try await database.run("DELETE FROM validations WHERE id = $1", .uuid(claimed[4].id.uuid))
            let writer = PursuitWriter(store: store)
            var written = 0
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for pursuit in claimed {
                    group.addTask {
                        do { return try await writer.write(pursuit.granted()) == .written } catch is StoreError {
                            return false
                        }
                    }
                }
                for try await isWritten in group where isWritten { written += 1 }
            }
            #expect(written == 4)
            #expect(try await database.count("validations", where: "status = 1") == 4)
            #expect(try await database.count("subscriptions") == 4)
        }
    }
}
