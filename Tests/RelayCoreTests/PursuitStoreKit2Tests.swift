import Testing

@testable import RelayCore

/// A purchase through StoreKit 2, step by step.
struct PursuitStoreKit2Tests {
    /// A grant without an end counted as endless, so Cleeng was never asked again about a pass or a consumable.
    @Test func aResultHasNoEndOfAccess() throws {
        var script = Script.synchronizing("sync-1")
        let granted = try #require(script.synchronizationRead(.granted(evidence: "{}"), at: 1).change)
        #expect(granted.expiresAt == nil && granted.grantedUntil == granted.rankedAt)
        var told = Script.synchronizing("sync-1")
        let event = try #require(told.told(.granted(expiresAt: nil, evidence: "{}"), "sync-1", at: 1).change)
        #expect(event.expiresAt == nil && event.grantedUntil == event.rankedAt)
        #expect(Decision.Change(status: .granted, at: Script.second(1)).grantedUntil == nil)
    }

    @Test func anAcceptedRegistrationIsFollowedByCleengsName() {
        var script = Script.registering()
        #expect(script.woken(at: 0.1).next == .forward)
        let taken = script.registered("sync-1", at: 0.2)
        #expect(taken.next == .read)
        #expect(taken.kinds == [.forwarded])
        #expect(script.pursuit.phase.isSynchronizing)
        #expect(script.pursuit.synchronization == "sync-1")
        let running = script.synchronizationRead(.running("processing"), at: 0.3)
        #expect(running.kinds == [.synchronizationRead])
        #expect(running.events.first?.detail == "processing")
        #expect(running.restsUntil == 5.3)
        #expect(script.woken(at: 5.3).next == .read)
        let granted = script.synchronizationRead(.granted(evidence: "{}"), at: 5.4)
        #expect(granted.kinds == [.synchronizationRead, .granted])
        #expect(granted.change?.status == .granted && granted.change?.evidence == "{}")
        // The result says nothing about any time after Cleeng's acceptance.
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

    @Test func anotherCustomersPurchaseIsTransferredOnce() {
        var script = Script.synchronizing("sync-1")
        let unchanged = script.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 1)
        #expect(unchanged.change == nil)
        #expect(unchanged.next == .rest(until: Script.second(1)))
        #expect(script.pursuit.phase.isRegistering && script.pursuit.transfers)
        #expect(script.pursuit.synchronization == nil)
        #expect(script.woken(at: 1.2).next == .forward)
        let taken = script.registered("sync-2", at: 1.3)
        #expect(taken.events.first?.detail == "transfer")
        // A delayed event reports the end of the registration once more.
        let late = script.told(.refused(reason: "purchase_ownership_unchanged"), "sync-1", at: 1.4)
        #expect(late.change == nil && late.next != .finished)
        #expect(script.pursuit.synchronization == "sync-2")
        let again = script.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 2)
        #expect(again.change?.status == .rejected)
        #expect(again.change?.reason == "purchase_ownership_unchanged")
    }

    @Test func anEventOfASynchronizationEqualsARead() {
        var granted = Script.synchronizing("sync-1")
        let decision = granted.told(.granted(expiresAt: nil, evidence: "{}"), "sync-1", at: 1)
        #expect(decision.change?.status == .granted)
        var moved = Script.synchronizing("sync-1")
        #expect(moved.told(.refused(reason: "purchase_ownership_unchanged"), "sync-1", at: 1).change == nil)
        #expect(moved.pursuit.transfers && moved.pursuit.phase.isRegistering)
        var refused = Script.synchronizing("sync-1")
        let rejected = refused.told(.refused(reason: "received_expired_purchase"), "sync-1", at: 1)
        #expect(rejected.change?.status == .rejected && rejected.change?.reason == "received_expired_purchase")
        #expect(rejected.next == .finished)
    }

    @Test func theReadAfterARefusedReceiptDecides() {
        for (answer, status) in [(EntitlementAnswer.Verdict.notYet, ValidationStatus.rejected), (.yes, .granted)] {
            var script = Script.watching(since: 0)
            #expect(script.readAnswered(.notYet, at: 0).restsUntil == 5)
            let refused = script.told(.refused(reason: "receipt_expired"), nil, at: 1)
            #expect(refused.change == nil && refused.kinds == [.cleengEvent] && refused.restsUntil == 1)
            #expect(script.woken(at: 1).next == .read)
            // A failed read decides nothing.
            #expect(script.readAnswered(.noAnswer, at: 1).change == nil)
            let read = script.readAnswered(answer, at: 6)
            #expect(read.change?.status == status && read.next == .finished)
            #expect(read.change?.reason == (status == .rejected ? "receipt_expired" : nil))
        }
    }

    @Test func aRefusalThatMayBeAnotherPurchasesOnlyBringsTheReadForward() {
        var script = Script.watching(since: 0)
        #expect(script.readAnswered(.notYet, at: 0).restsUntil == 5)
        let refused = script.told(.refused(reason: "receipt_expired"), nil, at: 1, isAmbiguous: true)
        #expect(refused.change == nil && refused.restsUntil == 1)
        #expect(script.readAnswered(.notYet, at: 1).restsUntil == 6)
        #expect(script.readAnswered(.yes, at: 6).change?.status == .granted)
        // The same after the deadline: the timeout is written, and the read is due at once.
        var late = Script.watching(since: 0)
        let timedOut = late.told(.refused(reason: "receipt_expired"), nil, at: 61, isAmbiguous: true)
        #expect(timedOut.change?.status == .timedOut && timedOut.restsUntil == 61)
        #expect(late.readAnswered(.yes, at: 62).change?.late == true)
    }

    @Test func theEntitlementDecidesAboutAccessToAnotherOffer() {
        var script = Script.synchronizing("sync-1")
        let decision = script.synchronizationRead(.grantedOther(offer: "S1"), at: 1)
        #expect(decision.change == nil && decision.next == .read)
        #expect(script.pursuit.phase == .watching && script.pursuit.synchronization == nil)
    }

    /// Within three intervals, Cleeng may not know yet what it has accepted.
    @Test func aForgottenRegistrationIsRepeatedWithinLimits() {
        var script = Script.synchronizing("sync-1")
        let early = script.synchronizationRead(.unknown, at: 1)
        #expect(early.kinds == [.synchronizationReadFailed] && early.restsUntil == 6)
        #expect(script.pursuit.synchronization == "sync-1")
        let late = script.synchronizationRead(.unknown, at: 16)
        #expect(script.pursuit.phase.isRegistering && !script.pursuit.transfers)
        #expect(late.restsUntil.map { $0 >= 16.5 } == true)
        var rounds = 0
        while script.pursuit.phase != .watching, rounds < 20 {
            let second = 100 + Double(rounds) * 100
            _ = script.registered("sync", at: second)
            _ = script.synchronizationRead(.unknown, at: second + 50)
            rounds += 1
        }
        #expect(rounds == 7)
    }

    @Test func withoutAStatementOnAccessTheEntitlementIsRead() {
        var script = Script.synchronizing("sync-1")
        let decision = script.synchronizationRead(.unclear, at: 1)
        #expect(decision.change == nil && decision.next == .read && script.pursuit.phase == .watching)
    }

    @Test func aForgedPurchaseRequestsNoTransfer() {
        var script = Script.synchronizing("sync-1", mayTransfer: false)
        let decision = script.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 1)
        #expect(decision.change?.status == .rejected && decision.next == .finished)
        #expect(decision.events.last?.detail?.contains("not genuine") == true)
    }

    /// A refusal concerns one purchase; a grant counts for any purchase of the customer and offer.
    @Test func aRefusalIsAboutOnePurchaseAndAGrantAboutACustomerAndAnOffer() {
        var script = Script.synchronizing("sync-1")
        for name in ["sync-2", nil] {
            let ignored = script.told(.refused(reason: "x"), name, at: 1)
            #expect(ignored.change == nil && ignored.events.isEmpty && ignored.next != .finished)
        }
        let granted = script.told(.granted(expiresAt: nil, evidence: "{}"), nil, at: 2)
        #expect(granted.change?.status == .granted)
        // An event has no time of its own.
        #expect(granted.change?.observedAt == Script.second(0.5))
    }

    @Test func aReadThatFailedEndsNothing() {
        var script = Script.synchronizing("sync-1")
        let away = script.synchronizationRead(.tryAgain(why: "timeout", retryAfter: .seconds(20)), at: 1)
        #expect(away.kinds == [.synchronizationReadFailed] && away.restsUntil == 21)
        let ours = script.synchronizationRead(.misconfigured(message: nil), at: 21)
        #expect(ours.restsUntil == 26)
        #expect(script.pursuit.phase.isSynchronizing)
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

    @Test func theEntitlementDecidesAboutALateGrant() {
        var script = Script.synchronizing("sync-1")
        let decision = script.pursuit.grantOutdated(at: Script.second(2), readAgainAt: Script.second(7))
        #expect(decision.next == .rest(until: Script.second(7)))
        #expect(script.pursuit.phase == .watching)
    }

    @Test func everyClaimHasItsOwnNameAndTheFirstIsTheValidations() throws {
        let id = try #require(ValidationID("12345600112233445566778899aabbccddeeff"))
        #expect(id.uuid(ofClaim: 1) == "00112233-4455-4677-8899-aabbccddeeff")
        let names = ([Int32.max, Int32.min] + Array(-500..<500 as Range<Int32>)).map { id.uuid(ofClaim: $0) }
        #expect(Set(names).count == names.count)
    }
}

extension Script {
    static func registering(
        _ connector: Connector = .storekit2, mayTransfer: Bool = true, isConfirmed: Bool = true
    ) -> Script {
        var script = Script()
        script.pursuit = Pursuit(
            phase: .registering(connector), acceptedAt: acceptedAt, deadline: deadline, mayTransfer: mayTransfer,
            isConfirmed: isConfirmed)
        return script
    }

    /// A purchase that Cleeng accepted at second 0.5.
    static func synchronizing(
        _ name: String, _ connector: Connector = .storekit2, mayTransfer: Bool = true, isConfirmed: Bool = true
    ) -> Script {
        var script = registering(connector, mayTransfer: mayTransfer, isConfirmed: isConfirmed)
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

    mutating func told(
        _ verdict: UpstreamStatement.Verdict, _ name: String?, at second: Double, isAmbiguous: Bool = false
    ) -> Decision {
        let moment = Self.second(second)
        var word = UpstreamStatement(verdict, saidAt: moment, summary: "event", synchronization: name)
        word.isAmbiguous = isAmbiguous
        return pursuit.apply(word, at: moment)
    }
}
