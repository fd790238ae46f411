import RelayCore
import Testing

/// A purchase that goes by StoreKit 2, step by step.
struct PursuitStoreKit2Tests {
    @Test func whatCleengTookIsFollowedByItsOwnName() {
        var script = Script.registering()
        #expect(script.woken(at: 0.1).next == .forward)
        let taken = script.registered("sync-1", at: 0.2)
        #expect(taken.next == .read)
        #expect(taken.kinds == [.forwarded])
        #expect(script.pursuit.phase == .synchronizing)
        #expect(script.pursuit.synchronization == "sync-1")
        let running = script.synchronizationRead(.running("processing"), at: 0.3)
        #expect(running.kinds == [.synchronizationRead])
        #expect(running.events.first?.detail == "processing")
        #expect(running.restsUntil == 5.3)
        #expect(script.woken(at: 5.3).next == .read)
        let granted = script.synchronizationRead(.granted(evidence: "{}"), at: 5.4)
        #expect(granted.kinds == [.synchronizationRead, .granted])
        #expect(granted.change?.status == .granted && granted.change?.evidence == "{}")
        // It says nothing of any moment after the one at which Cleeng took it.
        #expect(granted.change?.observedAt == Script.second(0.2))
        #expect(granted.next == .finished)
    }

    @Test func withoutANameOfCleengsTheEntitlementIsWatched() {
        var script = Script.registering()
        #expect(script.registered(nil, at: 0.2).next == .read)
        #expect(script.pursuit.phase == .watching)
    }

    @Test func aResultWithoutAccessIsTheReason() {
        var script = Script.synchronizing("sync-1")
        let decision = script.synchronizationRead(.refused(result: "received_expired_purchase"), at: 1)
        #expect(decision.change?.status == .rejected)
        #expect(decision.change?.reason == "received_expired_purchase")
        #expect(decision.next == .finished)
    }

    @Test func whatAnotherCustomerHasIsTransferredOnce() {
        var script = Script.synchronizing("sync-1")
        let unchanged = script.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 1)
        #expect(unchanged.change == nil)
        #expect(unchanged.next == .rest(until: Script.second(1)))
        #expect(script.pursuit.phase == .registering && script.pursuit.transfers)
        #expect(script.pursuit.synchronization == nil)
        #expect(script.woken(at: 1.2).next == .forward)
        let taken = script.registered("sync-2", at: 1.3)
        #expect(taken.events.first?.detail == "transfer")
        // The end of the registration is told once more, by an event that was on its way.
        let late = script.told(.refused(reason: "purchase_ownership_unchanged"), "sync-1", at: 1.4)
        #expect(late.change == nil && late.next != .finished)
        #expect(script.pursuit.synchronization == "sync-2")
        let again = script.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 2)
        #expect(again.change?.status == .rejected)
        #expect(again.change?.reason == "purchase_ownership_unchanged")
    }

    @Test func anEventSaysAsMuchAsARead() {
        var granted = Script.synchronizing("sync-1")
        let decision = granted.told(.granted(expiresAt: nil, evidence: "{}"), "sync-1", at: 1)
        #expect(decision.change?.status == .granted)
        var moved = Script.synchronizing("sync-1")
        #expect(moved.told(.refused(reason: "purchase_ownership_unchanged"), "sync-1", at: 1).change == nil)
        #expect(moved.pursuit.transfers && moved.pursuit.phase == .registering)
        // By the other road there is nothing to transfer.
        var receipt = Script.watching(since: 0)
        #expect(
            receipt.told(.refused(reason: "purchase_ownership_unchanged"), "x", at: 1).change?.status == .rejected)
    }

    @Test func accessToAnotherOfferIsForTheEntitlementToJudge() {
        var script = Script.synchronizing("sync-1")
        let decision = script.synchronizationRead(.grantedOther(offer: "S1"), at: 1)
        #expect(decision.change == nil && decision.next == .read)
        #expect(script.pursuit.phase == .watching && script.pursuit.synchronization == nil)
    }

    @Test func whatCleengDoesNotKnowIsRegisteredAgain() {
        var script = Script.synchronizing("sync-1")
        let decision = script.synchronizationRead(.unknown, at: 1)
        #expect(decision.kinds == [.synchronizationReadFailed])
        #expect(script.pursuit.phase == .registering && !script.pursuit.transfers)
        #expect(decision.restsUntil.map { $0 >= 1.5 } == true)
    }

    @Test func aReadThatFailedEndsNothing() {
        var script = Script.synchronizing("sync-1")
        let away = script.synchronizationRead(.tryAgain(why: "timeout", retryAfter: .seconds(20)), at: 1)
        #expect(away.kinds == [.synchronizationReadFailed] && away.restsUntil == 21)
        let ours = script.synchronizationRead(.misconfigured(message: nil), at: 21)
        #expect(ours.restsUntil == 26)
        #expect(script.pursuit.phase == .synchronizing)
    }

    @Test func itIsFollowedBeyondTheDeadlineAndGrantedLate() {
        var script = Script.synchronizing("sync-1")
        let late = script.synchronizationRead(.running("retrying"), at: 61)
        #expect(late.change?.status == .timedOut && late.next != .finished)
        let granted = script.synchronizationRead(.granted(evidence: "{}"), at: 3_000)
        #expect(granted.change?.status == .granted && granted.change?.late == true)
        var given = Script.synchronizing("sync-1")
        #expect(given.synchronizationRead(.running("retrying"), at: 90_000).next == .finished)
        #expect(given.pursuit.status == .timedOut)
    }

    @Test func aGrantThatCameTooLateIsHeldAgainstTheEntitlement() {
        var script = Script.synchronizing("sync-1")
        let decision = script.pursuit.grantOutdated(at: Script.second(2), readAgainAt: Script.second(7))
        #expect(decision.next == .rest(until: Script.second(7)))
        #expect(script.pursuit.phase == .watching)
    }

    @Test func everyTryHasANameOfItsOwnAndTheFirstIsTheValidations() throws {
        let id = try #require(ValidationID("12345600112233445566778899aabbccddeeff"))
        let first = id.uuid(ofTry: 0, transfers: false)
        #expect(first == "00112233-4455-4677-8899-aabbccddeeff")
        let names = (0..<1_000).flatMap { [id.uuid(ofTry: $0, transfers: false), id.uuid(ofTry: $0, transfers: true)] }
        #expect(Set(names).count == 2_000)
    }
}

extension Script {
    static func registering() -> Script {
        var script = Script()
        script.pursuit.phase = .registering
        return script
    }

    /// Taken at second 0.5.
    static func synchronizing(_ name: String) -> Script {
        var script = registering()
        _ = script.registered(name, at: 0.5)
        return script
    }

    mutating func registered(_ name: String?, at second: Double) -> Decision {
        pursuit.forwardAnswered(
            ForwardAnswer(.accepted, status: 202, synchronization: name), at: Self.second(second), retries: retries,
            jitter: 1)
    }

    mutating func synchronizationRead(_ verdict: SynchronizationAnswer.Verdict, at second: Double) -> Decision {
        pursuit.synchronizationRead(
            SynchronizationAnswer(verdict, status: 200, observedAt: Self.second(second)), at: Self.second(second),
            reads: reads, retries: retries, jitter: 0)
    }

    mutating func told(_ verdict: UpstreamWord.Verdict, _ name: String?, at second: Double) -> Decision {
        let moment = Self.second(second)
        return pursuit.told(
            UpstreamWord(verdict, saidAt: moment, summary: "event", synchronization: name), at: moment)
    }
}
