import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("An operator's retry")
struct RetryTests {
    @Test("of a rejection sends it again; the status stays until a new result")
    func rejected() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(.sample())
            try await store.write(first.rejected())
            try await store.ops.retry(first.id, by: "ops", reason: "again")
            #expect(try await store.status(of: first.id) == .rejected)
            let claimed = try await store.claimOne()
            #expect(claimed.id == first.id)
            #expect(claimed.isSending)
            #expect(claimed.fence > first.fence)
            #expect(claimed.pursuit.status == .rejected && claimed.pursuit.phase == .forwarding)
            #expect(claimed.pursuit.forwards == 1)
            try await store.write(claimed.granted())
            let granted = try #require(try await store.purchases.validation(first.id))
            #expect(granted.status == .granted && granted.reason == nil)
        }
    }

    @Test("of a purchase that waits for its next try makes it due at once")
    func waiting() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(.sample())
            try await store.write(first.failed(retryAt: first.pursuit.deadline + .seconds(3_600)))
            #expect(try await store.purchases.claimDue().isEmpty)
            try await store.ops.retry(first.id, by: "ops", reason: "again")
            let claimed = try await store.claimOne()
            #expect(claimed.isSending)
            #expect(claimed.pursuit.retryAt == nil)
        }
    }

    @Test("of a watched purchase sends it again, and fences its holder off")
    func watching() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(.sample())
            try await store.write(first.watching(until: first.soon))
            try await database.makeDue(first.id)
            let reader = try await store.claimOne()
            try await store.ops.retry(first.id, by: "ops", reason: "again")
            #expect(try await store.outcome(of: reader.granted()) == .leaseLost)
            let claimed = try await store.claimOne()
            #expect(claimed.isSending && claimed.pursuit.phase == .forwarding)
        }
    }

    @Test("of a purchase with a found synchronization forgets that")
    func found() async throws {
        try await withStore { database, store in
            var sample = try Acceptance.sample()
            (sample.driver, sample.cleengCustomer) = (.googleV2, 7)
            var write = try await store.takeAndClaim(sample).watching(until: Timestamp(seconds: 4_000_000_000))
            write.pursuit.foundSynchronization = true
            try await store.write(write)
            try await store.ops.retry(sample.id, by: "ops", reason: "again")
            let claimed = try await store.claimOne()
            #expect(claimed.pursuit.phase == .registering(.google) && !claimed.pursuit.foundSynchronization)
        }
    }

    /// A copy of the previous version would have sent Google's JSON as an Apple receipt.
    @Test("of a purchase that its connector refused sends it as a receipt", arguments: [false, true])
    func fallenBack(isLate: Bool) async throws {
        try await withStore { database, store in
            var sample = try Acceptance.sample()
            (sample.driver, sample.cleengCustomer) = (.googleV2, 7)
            let claimed = try await store.takeAndClaim(sample)
            var pursuit = claimed.pursuit
            let decision = pursuit.forwardAnswered(
                ForwardAnswer(.rejected(code: "REQ0001", message: nil), status: 400),
                at: isLate ? pursuit.deadline : claimed.soon, retries: RetrySchedule(), jitter: 0)
            try await store.write(
                PursuitWrite(
                    claimed: claimed, pursuit: pursuit, change: decision.change, events: decision.events,
                    next: .rest(until: claimed.soon)))
            #expect(try await database.value("SELECT driver FROM validations", as: Int.self) == 2)
            #expect(try await store.status(of: sample.id) == (isLate ? .timedOut : .pending))
            try await store.ops.retry(sample.id, by: "ops", reason: "again")
            #expect(try await store.claimOne().pursuit.phase == .forwarding)
        }
    }

    @Test("of a parked purchase resumes it")
    func parked() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(.sample())
            try await store.purchases.park(first, why: "test")
            try await store.ops.retry(first.id, by: "ops", reason: "mended")
            let claimed = try await store.claimOne()
            #expect(claimed.isSending && claimed.pursuit.phase == .forwarding)
            try await store.write(claimed.granted())
            let kinds = try #require(try await store.ops.detail(first.id)).timeline.map(\.event.kind)
            #expect(kinds == [.accepted, .parked, .retried, .forwarded, .entitlementRead, .granted])
        }
    }

    @Test("of a purchase whose watch has ended makes a new pursuit")
    func watchOver() async throws {
        try await withStore { database, store in
            let first = try await store.takeAndClaim(.sample())
            var write = first.timedOut(restingUntil: first.pursuit.deadline)
            write.next = .finished
            try await store.write(write)
            #expect(try await database.count("pursuits") == 0)
            try await store.ops.retry(first.id, by: "ops", reason: "again")
            #expect(try await store.claimOne().pursuit.status == .timedOut)
        }
    }

    @Test("is refused after a success or a transfer")
    func status() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: "ana@example.test"))
            await #expect(throws: OpsRefusal.status(.granted)) { try await store.ops.retry(old, by: "ops", reason: "") }
            try await store.takeAndGrant(.sample(customer: "ben@example.test"))
            await #expect(throws: OpsRefusal.status(.transferred)) {
                try await store.ops.retry(old, by: "ops", reason: "")
            }
            #expect(try await database.count("pursuits") == 0)
            #expect(try await database.count("timeline", where: "event = 16") == 0)
        }
    }

    @Test("is not refused for a newer request in another environment")
    func otherEnvironment() async throws {
        try await withStore { database, store in
            let genuine = try await store.takeAndClaim(.sample(customer: "ana@example.test"))
            try await store.write(genuine.failed(retryAt: genuine.pursuit.deadline))
            _ = try await store.takeAndClaim(.sample(customer: "eve@example.test", environment: "unknown"))
            try await store.ops.retry(genuine.id, by: "ops", reason: "again")
            #expect(try await store.claimOne().id == genuine.id)
        }
    }

    @Test("is refused for an unknown id")
    func unknown() async throws {
        try await withStore { database, store in
            let id = try Acceptance.sample().id
            await #expect(throws: OpsRefusal.unknown) { try await store.ops.retry(id, by: "ops", reason: "") }
            await #expect(throws: OpsRefusal.unknown) { try await store.ops.abandon(id, by: "ops", reason: "") }
        }
    }

    @Test("is refused while it is being sent, and possible after the sender's lease expires")
    func busy() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            await #expect(throws: OpsRefusal.busy) { try await store.ops.retry(claimed.id, by: "ops", reason: "") }
            #expect(
                try await store.purchases.renew([(claimed.id, claimed.fence)], lease: .seconds(60)).renewed == [
                    claimed.id
                ])
            try await database.makeDue(claimed.id)
            try await store.ops.retry(claimed.id, by: "ops", reason: "")
            // The purchase may have been sent, so it keeps the right to send.
            #expect(try await database.count("pursuits", where: "sending") == 1)
            #expect(try await store.claimOne().isSending)
        }
    }

    @Test("is refused without a stored receipt")
    func receiptGone() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.write(claimed.rejected())
            try await database.run("DELETE FROM receipts")
            await #expect(throws: OpsRefusal.receiptGone) {
                try await store.ops.retry(claimed.id, by: "ops", reason: "")
            }
        }
    }

    /// State of a newer request for the subscription.
    enum Newer: CaseIterable { case sending, watched, failed, granted }

    @Test("is refused once a newer request for the subscription was sent", arguments: Newer.allCases)
    func superseded(newer: Newer) async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample(customer: "ana@example.test"))
            try await store.write(old.rejected())
            let claimed = try await store.takeAndClaim(.sample(customer: "ben@example.test"))
            switch newer {
            case .sending: break
            case .watched: try await store.write(claimed.watching(until: claimed.pursuit.deadline))
            case .failed: try await store.write(claimed.failed(retryAt: claimed.pursuit.deadline))
            case .granted: try await store.write(claimed.granted())
            }
            await #expect(throws: OpsRefusal.superseded) { try await store.ops.retry(old.id, by: "ops", reason: "") }
            #expect(try await database.count("timeline", where: "event = 16") == 0)
        }
    }

    @Test("is possible if the newer request was refused, was not sent yet, or has another environment")
    func notSuperseded() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample(customer: "ana@example.test"))
            try await store.write(old.rejected())
            try await store.takeAndGrant(.sample(customer: "ben@example.test", environment: "Sandbox"))
            try await store.write(try await store.takeAndClaim(.sample(customer: "cid@example.test")).rejected())
            try await store.take(.sample(customer: "dan@example.test"))
            try await store.ops.retry(old.id, by: "ops", reason: "")
            // It is also claimed first, since it is older.
            #expect(try await store.claimOne().id == old.id)
        }
    }
}
