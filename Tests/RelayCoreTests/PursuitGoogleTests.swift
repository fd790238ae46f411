import Testing

@testable import RelayCore

/// A purchase that goes by the Google Play connector, where that differs from StoreKit 2.
struct PursuitGoogleTests {
    /// What the phases are called in the database: an older version must not take them for its own.
    @Test func thePhasesHaveNumbersOfTheirOwn() {
        let numbers: [Int16] = [0, 1, 2, 3, 4, 5, 6]
        #expect(numbers.map { Pursuit.Phase(rawValue: $0)?.rawValue } == numbers)
        #expect(Pursuit.Phase(rawValue: 7) == nil && Pursuit.Phase(rawValue: -1) == nil)
        #expect(Pursuit.Phase.unsent.map(\.rawValue) == [0, 3, 5])
        #expect(Pursuit.Phase.taken.map(\.rawValue) == [1, 4, 6])
        for route in UpstreamRoute.allCases { #expect(route.phase.route == route) }
    }

    @Test func aDriverBeginsAsItsConnectorDoes() {
        #expect(PurchaseDriver.googleV2.firstPhase == .registering(.google))
        #expect(PurchaseDriver.storekit2.firstPhase == .registering(.storekit2))
        #expect(PurchaseDriver.google.firstPhase == .forwarding && PurchaseDriver.google.connector == nil)
        #expect(PurchaseDriver.googleV2.sendsReceipt)
    }

    @Test func aDuplicateIsFollowed() {
        var script = Script.registering(.google)
        let decision = script.duplicate("sync-1", isAnothers: false, at: 0.2)
        #expect(decision.next == .read && decision.events.first?.detail == "registered before")
        #expect(script.pursuit.phase == .synchronizing(.google) && script.pursuit.synchronization == "sync-1")
    }

    @Test func ofAnotherCustomersTheTransferIsAskedFor() {
        var script = Script.registering(.google)
        let decision = script.duplicate("sync-1", isAnothers: true, at: 0.2)
        #expect(decision.change == nil && decision.next == .rest(until: Script.second(0.2)))
        #expect(script.pursuit.phase == .registering(.google) && script.pursuit.transfers)
        // Theirs is under way: the transfer waits.
        let waits = script.duplicate("sync-1", isAnothers: true, at: 0.4)
        #expect(waits.kinds == [.forwardFailed] && waits.change == nil)
        #expect(script.pursuit.phase == .registering(.google) && script.pursuit.transfers)
    }

    @Test func whatMayTakeNothingAsksForNoTransfer() {
        var script = Script.registering(.google, mayTransfer: false)
        let decision = script.duplicate("sync-1", isAnothers: true, at: 0.2)
        #expect(decision.change?.status == .rejected && decision.change?.reason == "purchase_ownership_unchanged")
        #expect(decision.next == .finished)
    }

    /// The end of a synchronization that somebody else may have begun says nothing of this customer.
    @Test func ofWhatWasBegunBeforeTheEntitlementDecides() {
        var entitled = Script.synchronizing("sync-1", .google)
        let granted = entitled.existing(
            .granted(evidence: "{}"), .entitled(expiresAt: nil, evidence: #"{"a":1}"#), at: 1)
        #expect(granted.change?.status == .granted && granted.change?.evidence == #"{"a":1}"#)
        #expect(granted.kinds == [.synchronizationRead, .entitlementRead, .granted])
        // An old refusal takes nothing from who has access by now.
        var recovered = Script.synchronizing("sync-1", .google)
        let again = recovered.existing(
            .refused(result: "received_expired_purchase"), .entitled(expiresAt: nil, evidence: "{}"), at: 1)
        #expect(again.change?.status == .granted)
        var others = Script.synchronizing("sync-1", .google)
        let moved = others.existing(.granted(evidence: "{}"), .notEntitled(evidence: "{}"), at: 1)
        #expect(moved.change == nil && others.pursuit.transfers && others.pursuit.phase == .registering(.google))
        var over = Script.synchronizing("sync-1", .google)
        let refused = over.existing(
            .refused(result: "received_expired_purchase"), .notEntitled(evidence: "{}"), at: 1)
        #expect(refused.change?.status == .rejected && refused.change?.reason == "received_expired_purchase")
    }

    @Test func anEntitlementThatCannotBeReadIsReadAgain() {
        var script = Script.synchronizing("sync-1", .google)
        let decision = script.existing(
            .granted(evidence: "{}"), .tryAgain(why: "timeout", retryAfter: nil), at: 1)
        #expect(decision.change == nil && decision.restsUntil == 6)
        #expect(script.pursuit.synchronization == "sync-1")
    }

    @Test func afterATransferTheEntitlementIsWatched() {
        var script = Script.registering(.google)
        _ = script.duplicate("sync-1", isAnothers: true, at: 0.2)
        _ = script.registered("sync-2", at: 0.4)
        let decision = script.existing(.granted(evidence: "{}"), .notEntitled(evidence: "{}"), at: 1)
        #expect(decision.change == nil && decision.next != .finished && script.pursuit.phase == .watching)
    }

    @Test(arguments: [false, true]) func whatMayBeNoSubscriptionGoesByTheOtherRoad(isConfirmed: Bool) {
        var unknown = Script.synchronizing("sync-1", .google, isConfirmed: isConfirmed)
        let missing = unknown.synchronizationRead(.refused(result: "purchase_token_not_found"), at: 1)
        #expect((unknown.pursuit.phase == .forwarding) == !isConfirmed)
        #expect((missing.change?.status == .rejected) == isConfirmed)
        var refused = Script.registering(.google, isConfirmed: isConfirmed)
        let answer = ForwardAnswer(.rejected(code: "REQ0001", message: nil), status: 400)
        let decision = refused.pursuit.forwardAnswered(
            answer, at: Script.second(1), retries: refused.retries, jitter: 0)
        #expect((refused.pursuit.phase == .forwarding) == !isConfirmed)
        #expect((decision.change?.status == .rejected) == isConfirmed)
        #expect(refused.pursuit.forwards == (isConfirmed ? 1 : 0))
        // Expired it is a subscription all the same.
        var over = Script.synchronizing("sync-1", .google, isConfirmed: isConfirmed)
        let expired = over.synchronizationRead(.refused(result: "received_expired_purchase"), at: 1)
        #expect(expired.change?.status == .rejected)
    }

    @Test func aNameOfItsOwnIsKnownWhicheverClaimGaveIt() throws {
        let id = try #require(ValidationID("12345600112233445566778899aabbccddeeff"))
        for fence in [1, 2, 500, Int32.max] { #expect(id.isNamed(by: id.uuid(ofClaim: fence).uppercased())) }
        let other = try #require(ValidationID("12345600112233445566778999aabbccddeeff"))
        #expect(!id.isNamed(by: other.uuid(ofClaim: 1)))
        for name in ["", "sync-1", "00112233-4455-4677-8899-aabbccddeeff0"] { #expect(!id.isNamed(by: name)) }
    }
}

extension Script {
    fileprivate mutating func duplicate(_ name: String, isAnothers: Bool, at second: Double) -> Decision {
        pursuit.forwardAnswered(
            ForwardAnswer(.duplicate, status: 409, synchronization: name), isAnothers: isAnothers,
            at: Self.second(second), retries: retries, jitter: 1)
    }

    fileprivate mutating func existing(
        _ verdict: SynchronizationAnswer.Verdict, _ entitlement: EntitlementAnswer.Verdict, at second: Double
    ) -> Decision {
        let moment = Self.second(second)
        return pursuit.existingSynchronizationRead(
            SynchronizationAnswer(verdict, status: 200, observedAt: moment),
            EntitlementAnswer(entitlement, observedAt: moment), at: moment, reads: reads)
    }
}
