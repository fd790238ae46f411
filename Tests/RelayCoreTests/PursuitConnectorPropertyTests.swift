import RelayCore
import TestSupport
import Testing

/// What holds of a purchase that goes by StoreKit 2 whatever happens, in any order, asked for or not.
struct PursuitStoreKit2PropertyTests {
    @Test(arguments: 0..<300 as Range<UInt64>) func whateverHappens(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let mayTransfer = Bool.random(using: &generator)
        var script = Script.registering(mayTransfer: mayTransfer)
        var second = 0.0
        var transfers = 0
        for step in 0..<80 {
            second += Double.random(in: 0.1...(seed % 3 == 0 ? 600 : 4), using: &generator)
            let before = script.pursuit
            let decision = happen(at: second, to: &script, &generator)
            let after = script.pursuit
            func claim(_ holds: Bool, _ what: Comment) {
                if !holds {
                    Issue.record("seed \(seed), step \(step): \(what.rawValue): \(before) \(decision) \(after)")
                }
            }
            claim(after.status != .pending || second < 60, "pending after the deadline")
            claim((after.phase.isSynchronizing) == (after.synchronization != nil), "a name without its phase")
            claim(!before.transfers || after.transfers, "a transfer was forgotten")
            claim(after.forwards >= before.forwards, "a try was forgotten")
            if after.transfers, !before.transfers {
                transfers += 1
                claim(
                    mayTransfer && before.phase.isSynchronizing && after.phase.isRegistering, "a transfer of what?")
                claim(decision.change == nil || decision.change?.status == .timedOut, "decided and asked for")
            }
            if decision.change?.status == .granted {
                claim(decision.change?.evidence != nil, "granted without evidence")
            }
            claim(decision.next != .finished || after.status != .pending, "given up unsettled")
            // What comes after the end comes to nobody: the row is gone.
            if decision.next == .finished { return }
        }
        #expect(transfers <= 1)
    }

    private func happen(
        at second: Double, to script: inout Script, _ generator: inout SeededGenerator
    ) -> Decision {
        let results = ["purchase_ownership_unchanged", "purchase_ownership_unchanged", "received_expired_purchase"]
        let result = results.randomElement(using: &generator) ?? "x"
        switch script.pursuit.phase {
        case .registering, .forwarding, .parked:
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: return script.woken(at: second)
            case 1: return script.overtaken(at: second)
            case 2: return script.forwardAnswered(.tryAgain(why: "conflict", retryAfter: nil), at: second)
            default: return script.registered(Bool.random(using: &generator) ? "s\(second)" : nil, at: second)
            }
        case .synchronizing:
            let name = Bool.random(using: &generator) ? script.pursuit.synchronization : "another"
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: return script.synchronizationRead(.granted(evidence: "{}"), at: second)
            case 1: return script.synchronizationRead(.grantedOther(offer: "S1"), at: second)
            case 2: return script.synchronizationRead(.unknown, at: second)
            case 3: return script.synchronizationRead(.refused(result: result), at: second)
            case 4: return script.told(.refused(reason: result), name, at: second)
            case 5:
                let moment = Script.second(second)
                return script.pursuit.grantOutdated(at: moment, readAgainAt: moment + .seconds(5))
            case 6: return script.synchronizationRead(.unclear, at: second)
            default: return script.synchronizationRead(.running("processing"), at: second)
            }
        case .watching:
            return Bool.random(using: &generator)
                ? script.readAnswered(.notYet, at: second) : script.readAnswered(.noAnswer, at: second)
        }
    }
}
