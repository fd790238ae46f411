import Testing

@testable import RelayCore

/// A purchase for a connector, whose customer number Cleeng names for somebody else, or cannot be asked about.
struct PursuitNumberTests {
    private static func registering(forwards: Int = 0) -> Script {
        var script = Script()
        script.pursuit.phase = .registering(.storekit2)
        script.pursuit.forwards = forwards
        return script
    }

    @Test func anothersNumberSendsItAsAReceipt() {
        var script = Self.registering()
        let decision = script.pursuit.numberIsAnothers(mayFallBack: true, at: Script.second(2))
        #expect(decision.change == nil && decision.kinds == [.forwardFailed])
        #expect(decision.restsUntil == 2)
        #expect(script.pursuit.phase == .forwarding)
        #expect(script.woken(at: 2).next == .forward)
    }

    @Test func anothersNumberEndsItIfOnlyTheConnectorMaySendIt() {
        var script = Self.registering()
        let decision = script.pursuit.numberIsAnothers(mayFallBack: false, at: Script.second(2))
        #expect(decision.change?.status == .rejected && decision.change?.reason == "another_customer")
        #expect(decision.kinds == [.forwardFailed, .rejected] && decision.next == .finished)
    }

    /// An earlier try may have reached Cleeng.
    @Test func afterATryItIsWatched() {
        var script = Self.registering(forwards: 1)
        let decision = script.pursuit.numberIsAnothers(mayFallBack: false, at: Script.second(2))
        #expect(decision.change == nil && decision.restsUntil == 2)
        #expect(script.pursuit.phase == .watching)
    }

    @Test func anUnconfirmedNumberWaitsAndSaysWhy() {
        var script = Self.registering()
        let early = script.pursuit.isUnconfirmed("timeout", at: Script.second(2), reads: script.reads)
        #expect(early.kinds == [.forwardFailed] && early.restsUntil == 7)
        #expect(early.events.first?.detail?.contains("timeout") == true)
        #expect(script.pursuit.phase == .registering(.storekit2) && script.pursuit.forwards == 0)
        let last = script.pursuit.isUnconfirmed("timeout", at: Script.second(61), reads: script.reads)
        #expect(last.change?.status == .timedOut && last.kinds == [.forwardFailed, .timedOut])
        let late = script.pursuit.isUnconfirmed("timeout", at: Script.second(70), reads: script.reads)
        #expect(late.kinds.isEmpty && late.restsUntil == 130, "the timeline stays short")
        let asked = script.pursuit.isUnconfirmed(
            "busy", notBefore: .seconds(300), at: Script.second(130), reads: script.reads)
        #expect(asked.restsUntil == 430)
    }
}
