import Testing

@testable import RelayCore

struct TimelineEventTests {
    @Test(
        arguments: [
            (.granted, 1, "granted"), (.rejected, 2, "rejected"), (.timedOut, 3, "timed_out"),
            (.transferred, 4, "transferred"), (.revoked, 5, "revoked"), (.superseded, 6, "superseded"),
            (.abandoned, 7, "abandoned"), (.accepted, 10, "accepted"), (.forwarded, 11, "forwarded"),
            (.forwardFailed, 12, "forward_failed"), (.entitlementRead, 13, "entitlement_read"),
            (.entitlementReadFailed, 14, "entitlement_read_failed"), (.baselineRead, 15, "baseline_read"),
            (.retried, 16, "retried"), (.parked, 17, "parked"), (.renewed, 8, "renewed"),
            (.cleengEvent, 18, "cleeng_event"), (.synchronizationRead, 19, "synchronization_read"),
            (.synchronizationReadFailed, 20, "synchronization_read_failed"),
        ] as [(TimelineEvent.Kind, Int16, String)])
    func theStoredNumbersAndTheNamesNeverChange(kind: TimelineEvent.Kind, number: Int16, name: String) {
        #expect(kind.rawValue == number)
        #expect(kind.name == name)
    }

    @Test func eachKindHasANameOfItsOwn() {
        #expect(TimelineEvent.Kind.allCases.count == 19)
        #expect(Set(TimelineEvent.Kind.allCases.map(\.name)).count == TimelineEvent.Kind.allCases.count)
    }

    /// The change feed looks only for events with numbers below 10.
    @Test func everyChangeOfStatusIsInTheChangeFeed() {
        var late = Script.watching(since: 1)
        var rejected = Script()
        var overtaken = Script()
        for decision in [
            late.readAnswered(.yes, at: 61), rejected.forwardAnswered(.rejected(code: nil, message: nil), at: 1),
            overtaken.overtaken(at: 1),
        ] {
            #expect(decision.change != nil)
            #expect(decision.events.last.map { $0.kind.rawValue < 10 } == true)
        }
        var waiting = Script()
        #expect(waiting.forwardAnswered(.accepted, at: 1).events.allSatisfy { $0.kind.rawValue >= 10 })
        #expect(waiting.readAnswered(.notYet, at: 1).events.allSatisfy { $0.kind.rawValue >= 10 })
    }
}
