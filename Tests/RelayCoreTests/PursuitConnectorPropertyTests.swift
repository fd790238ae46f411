import RelayCore
import TestSupport
import Testing

/// Invariants of a purchase through a connector, for any order of expected and unexpected events.
struct PursuitConnectorPropertyTests {
    @Test(arguments: 0..<300 as Range<UInt64>, Connector.allCases)
    func whateverHappens(seed: UInt64, connector: Connector) {
        var generator = SeededGenerator(seed: seed)
        let mayTransfer = Bool.random(using: &generator)
        let isConfirmed = Bool.random(using: &generator)
        var script = Script.registering(connector, mayTransfer: mayTransfer, isConfirmed: isConfirmed)
        var second = 0.0
        var (transfers, fallbacks) = (0, 0)
        for step in 0..<80 {
            second += Double.random(in: 0.1...(seed % 3 == 0 ? 600 : 4), using: &generator)
            let before = script.pursuit
            let decision = happen(at: second, to: &script, connector, &generator)
            let after = script.pursuit
            func claim(_ holds: Bool, _ what: Comment) {
                if !holds {
                    Issue.record("seed \(seed), step \(step): \(what.rawValue): \(before) \(decision) \(after)")
                }
            }
            claim(after.status != .pending || second < 60, "pending after the deadline")
            claim((after.phase.isSynchronizing) == (after.synchronization != nil), "a name without its phase")
            claim(!before.transfers || after.transfers, "a transfer was forgotten")
            let fallsBack = before.phase.connector != nil && after.phase == .forwarding
            claim(after.forwards >= before.forwards || fallsBack, "a try was forgotten")
            if fallsBack {
                fallbacks += 1
                claim(connector == .google && !isConfirmed && !before.transfers, "the other road for a subscription")
                claim(decision.change == nil || decision.change?.status == .timedOut, "decided and sent elsewhere")
            }
            claim(
                !after.foundSynchronization
                    || connector == .google && (after.phase.isSynchronizing || after.phase == .watching),
                "found where nothing is followed")
            if after.transfers, after.phase.isRegistering, !before.transfers || before.phase == .watching {
                transfers += 1
                claim(mayTransfer && after.phase == .registering(connector), "a transfer of what?")
                claim(before.phase != .watching || before.foundSynchronization, "a transfer of what nobody has")
                claim(decision.change == nil || decision.change?.status == .timedOut, "decided and asked for")
            }
            if decision.change?.status == .granted {
                claim(decision.change?.evidence != nil, "granted without evidence")
                claim(!before.foundSynchronization || decision.change?.isProven == false, "granted by another's end")
            }
            if decision.change?.status == .rejected {
                claim(!before.foundSynchronization, "rejected by another's end")
            }
            claim(decision.next != .finished || after.status != .pending, "given up unsettled")
            // After the end the row is gone, so later events have no effect.
            if decision.next == .finished { return }
        }
        // StoreKit 2 allows one transfer. A transfer that finds a synchronization is requested again, up to eight
        // requests in all.
        #expect(transfers <= (connector == .google ? 9 : 1) && fallbacks <= 1)
    }

    private func happen(
        at second: Double, to script: inout Script, _ connector: Connector, _ generator: inout SeededGenerator
    ) -> Decision {
        let results = [
            "purchase_ownership_unchanged", "purchase_ownership_unchanged", "received_expired_purchase", "no_access",
        ]
        let result = results.randomElement(using: &generator) ?? "x"
        switch script.pursuit.phase {
        case .registering, .forwarding, .parked:
            let name = Bool.random(using: &generator) ? "s\(second)" : nil
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: return script.woken(at: second)
            case 1: return script.overtaken(at: second)
            case 2: return script.forwardAnswered(.tryAgain(why: "conflict", retryAfter: nil), at: second)
            case 3 where connector == .google:
                return script.forwardAnswered(.rejected(code: "x", message: nil), status: 422, at: second)
            case 4..<7 where connector == .google && script.pursuit.phase.isRegistering:
                return script.duplicate(name, isAnothers: Bool.random(using: &generator), at: second)
            default: return script.registered(name, at: second)
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
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: return script.readAnswered(.yes, at: second)
            case 1..<10: return script.readAnswered(.noAnswer, at: second)
            default: return script.readAnswered(.notYet, at: second)
            }
        }
    }
}
