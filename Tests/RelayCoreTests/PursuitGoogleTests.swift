import Testing

@testable import RelayCore

/// A purchase through the Google Play connector, where it differs from StoreKit 2.
struct PursuitGoogleTests {
    /// Stored numbers of the phases: an older version must not mistake them for its own.
    @Test func thePhasesHaveTheirOwnNumbers() {
        let numbers: [Int16] = [0, 1, 2, 3, 4, 5, 6]
        #expect(numbers.map { Pursuit.Phase(rawValue: $0)?.rawValue } == numbers)
        #expect(Pursuit.Phase(rawValue: 7) == nil && Pursuit.Phase(rawValue: -1) == nil)
        #expect(Pursuit.Phase.unsent.map(\.rawValue) == [0, 3, 5])
        #expect(Pursuit.Phase.taken.map(\.rawValue) == [1, 4, 6])
        for route in UpstreamRoute.allCases { #expect(route.phase.route == route) }
    }

    @Test func aDriverStartsInItsConnectorsPhase() {
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
        #expect(script.pursuit.foundSynchronization)
        #expect(!Script.synchronizing("sync-1", .google).pursuit.foundSynchronization)
    }

    @Test func aTransferOfAnotherCustomersPurchaseIsRequested() {
        var script = Script.registering(.google)
        let decision = script.duplicate("sync-1", isAnothers: true, at: 0.2)
        #expect(decision.change == nil && decision.next == .rest(until: Script.second(0.2)))
        #expect(script.pursuit.phase == .registering(.google) && script.pursuit.transfers)
        #expect(!script.pursuit.foundSynchronization)
    }

    /// The transfer was answered 409 for ever: the relay repeated it endlessly and read nothing.
    @Test func aTransferThatFindsAnotherRequestFollowsItAndIsRepeatedWithinLimits() {
        var script = Script.registering(.google)
        var second = 0.2
        _ = script.duplicate("sync-1", isAnothers: true, at: second)
        while script.pursuit.phase.isRegistering, second < 1_000 {
            let found = script.duplicate("sync-2", isAnothers: true, at: second)
            #expect(found.kinds.first == .forwarded && script.pursuit.synchronization == "sync-2")
            _ = script.synchronizationRead(.granted(evidence: "{}"), at: second)
            _ = script.readAnswered(.notYet, at: second)
            second += 5
            _ = script.readAnswered(.notYet, at: second)
        }
        #expect(script.pursuit.phase == .watching && script.pursuit.forwards == 8)
        #expect(script.readAnswered(.yes, at: second + 5).change?.status == .granted)
    }

    /// No customer of the relay is known to own it, and this customer may not take it from another. Cleeng's answer
    /// named none.
    @Test(arguments: [false, true]) func aPurchaseThatMayNotTransferIsWatched(isAnothers: Bool) {
        var script = Script.registering(.google, mayTransfer: false)
        #expect(script.duplicate("sync-1", isAnothers: isAnothers, at: 0.2).change == nil)
        #expect(script.synchronizationRead(.granted(evidence: "{}"), at: 1).next == .read)
        for second in [1.0, 6, 11] {
            let decision = script.readAnswered(.notYet, at: second)
            #expect(decision.change == nil && decision.restsUntil == second + 5)
        }
        #expect(script.pursuit.phase == .watching && !script.pursuit.transfers)
        #expect(script.readAnswered(.yes, at: 16).change?.status == .granted)
    }

    /// The end of a synchronization that another customer may have begun says nothing about this customer.
    @Test(
        arguments: [
            .granted(evidence: "{}"), .grantedOther(offer: "S1"), .unclear,
            .refused(result: "received_expired_purchase"),
            .refused(result: "purchase_ownership_unchanged"),
        ] as [SynchronizationAnswer.Verdict])
    func theEntitlementDecidesAboutAFoundSynchronization(end: SynchronizationAnswer.Verdict) {
        var entitled = Script.found("sync-1")
        let ended = entitled.synchronizationRead(end, at: 1)
        #expect(ended.change == nil && ended.next == .read && ended.kinds == [.synchronizationRead])
        #expect(entitled.pursuit.phase == .watching && entitled.pursuit.synchronization == nil)
        #expect(entitled.readAnswered(.yes, at: 1).change?.status == .granted)
        // The entitlement may follow later: it is read again before the purchase counts as another customer's.
        var other = Script.found("sync-1")
        _ = other.synchronizationRead(end, at: 1)
        let early = other.readAnswered(.notYet, at: 1)
        #expect(early.change == nil && early.restsUntil == 6 && other.pursuit.phase == .watching)
        let late = other.readAnswered(.notYet, at: 6)
        #expect(late.change == nil)
        let mayFollow = end != .refused(result: "received_expired_purchase")
        #expect(other.pursuit.transfers == mayFollow && other.pursuit.foundSynchronization == false)
        #expect(other.pursuit.phase == (mayFollow ? .registering(.google) : .watching))
        #expect(late.restsUntil == (mayFollow ? 6 : 11))
    }

    /// After the end, the reads of the entitlement were postponed, or their route was shut. The relay then asked for
    /// the ended synchronization again and again.
    @Test func anEndIsRememberedWhileNoReadIsAllowed() {
        var script = Script.found("sync-1")
        _ = script.synchronizationRead(.granted(evidence: "{}"), at: 1)
        #expect(script.pursuit.phase.route == .reads)
        #expect(script.readPostponed(to: 4, at: 1).restsUntil == 4)
        let unread = script.readAnswered(.noAnswer, at: 4)
        #expect(unread.change == nil && unread.restsUntil == 9)
        _ = script.readAnswered(.notYet, at: 9)
        #expect(script.pursuit.transfers && script.pursuit.phase == .registering(.google))
    }

    @Test func aStartedTransferIsDecidedByItsEnd() {
        var script = Script.found("sync-1")
        _ = script.synchronizationRead(.granted(evidence: "{}"), at: 1)
        _ = script.readAnswered(.notYet, at: 6)
        _ = script.registered("sync-2", at: 6.2)
        #expect(!script.pursuit.foundSynchronization)
        var refused = script
        let moved = script.synchronizationRead(.granted(evidence: "{}"), at: 7)
        #expect(moved.change?.status == .granted && moved.change?.isProven == true)
        let unchanged = refused.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 7)
        #expect(unchanged.change?.status == .rejected)
    }

    /// Cleeng accepted the registration, but the process died before it wrote that, or the answer was lost. The relay
    /// finds the outcome.
    @Test func whatALostAnswerBeganIsFound() {
        var script = Script.registering(.google)
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 0.2)
        _ = script.duplicate("sync-1", isAnothers: false, at: 1)
        _ = script.synchronizationRead(.granted(evidence: "{}"), at: 1)
        #expect(script.readAnswered(.yes, at: 1).change?.status == .granted)
        #expect(!script.pursuit.transfers)
    }

    /// An operator retries a refused purchase. The answer names the old synchronization, which used to settle the retry
    /// at once.
    @Test func anOperatorsRetryIsNotSettledByTheOldEnd() {
        var script = Script.synchronizing("sync-1", .google)
        _ = script.synchronizationRead(.refused(result: "received_expired_purchase"), at: 1)
        #expect(script.pursuit.status == .rejected)
        script.pursuit.phase = .registering(.google)
        (script.pursuit.synchronization, script.pursuit.readAt) = (nil, nil)
        _ = script.duplicate("sync-1", isAnothers: false, at: 20)
        let ended = script.synchronizationRead(.refused(result: "received_expired_purchase"), at: 20)
        #expect(ended.change == nil && script.pursuit.phase == .watching)
        #expect(script.readAnswered(.yes, at: 20).change?.status == .granted)
    }

    @Test func anEventOfAFoundSynchronizationDecidesNoMoreThanItsEnd() {
        var refused = Script.found("sync-1")
        let told = refused.told(.refused(reason: "received_expired_purchase"), "sync-1", at: 1)
        #expect(told.change == nil && told.next == .read && refused.pursuit.phase == .watching)
        var granted = Script.found("sync-1")
        let word = granted.told(.granted(expiresAt: nil, evidence: "{}"), "sync-1", at: 1)
        #expect(word.change?.status == .granted && word.change?.isProven == false)
    }

    /// Registering again would return the same synchronization, and the entitlement would never be read.
    @Test func aFoundSynchronizationThatCleengForgotIsWatched() {
        var script = Script.found("sync-1")
        let decision = script.synchronizationRead(.unknown, at: 1)
        #expect(decision.change == nil && script.pursuit.phase == .watching && script.pursuit.foundSynchronization)
        #expect(script.readAnswered(.yes, at: 1).change?.status == .granted)
    }

    @Test func aStartedSynchronizationThatCleengForgotIsRegisteredAgain() {
        var script = Script.synchronizing("sync-1", .google)
        _ = script.synchronizationRead(.unknown, at: 60)
        #expect(script.pursuit.phase == .registering(.google))
    }

    @Test(arguments: [false, true]) func aPossibleNonSubscriptionIsSentAsAReceipt(isConfirmed: Bool) {
        for result in ["purchase_token_not_found", "unsupported_product_type", "no_access"] {
            var unknown = Script.synchronizing("sync-1", .google, isConfirmed: isConfirmed)
            let missing = unknown.synchronizationRead(.refused(result: result), at: 1)
            #expect((unknown.pursuit.phase == .forwarding) == !isConfirmed)
            #expect((missing.change?.status == .rejected) == isConfirmed)
            var found = Script.found("sync-1", isConfirmed: isConfirmed)
            let ended = found.synchronizationRead(.refused(result: result), at: 1)
            #expect(ended.change == nil && found.pursuit.phase == (isConfirmed ? .watching : .forwarding))
            #expect(!found.pursuit.foundSynchronization)
        }
        for status in [400, 422] {
            var refused = Script.registering(.google, isConfirmed: isConfirmed)
            let decision = refused.forwardAnswered(.rejected(code: "REQ0001", message: nil), status: status, at: 1)
            #expect((refused.pursuit.phase == .forwarding) == !isConfirmed)
            #expect((decision.change?.status == .rejected) == isConfirmed)
            #expect(refused.pursuit.forwards == (isConfirmed ? 1 : 0))
        }
        // Even if it has expired or belongs to another customer, it is a subscription.
        var over = Script.synchronizing("sync-1", .google, isConfirmed: isConfirmed)
        let expired = over.synchronizationRead(.refused(result: "received_expired_purchase"), at: 1)
        #expect(expired.change?.status == .rejected)
        var anothers = Script.synchronizing("sync-1", .google, isConfirmed: isConfirmed)
        _ = anothers.synchronizationRead(.refused(result: "purchase_ownership_unchanged"), at: 1)
        #expect(anothers.pursuit.phase == .registering(.google) && anothers.pursuit.transfers)
    }
}

extension Script {
    /// A purchase whose synchronization was found at second 0.5.
    static func found(_ name: String, mayTransfer: Bool = true, isConfirmed: Bool = true) -> Script {
        var script = registering(.google, mayTransfer: mayTransfer, isConfirmed: isConfirmed)
        _ = script.duplicate(name, isAnothers: false, at: 0.5)
        return script
    }

    mutating func duplicate(_ name: String?, isAnothers: Bool, at second: Double) -> Decision {
        pursuit.forwardAnswered(
            ForwardAnswer(.duplicate, status: 409, synchronization: name), isAnothers: isAnothers,
            at: Self.second(second), retries: retries, jitter: 1)
    }
}
