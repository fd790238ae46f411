import RelayCore
import Testing

/// Tests of the judge: it reports each violated truth, and accepts what only looks like a violation.
@Suite struct JudgeTests {
    private func truths(of history: Model.History) -> [Model.Truth] {
        var seen: [Model.Truth] = []
        for violation in Model.Judge.violations(of: history) where !seen.contains(violation.truth) {
            seen.append(violation.truth)
        }
        return seen
    }

    @Test func aGoodHistoryBreaksNothing() {
        #expect(Model.Judge.violations(of: .good).map(\.description) == [])
    }

    @Test(arguments: Model.Truth.allCases)
    func aBrokenTruthIsCaught(_ truth: Model.Truth) {
        let violations = Model.Judge.violations(of: .breaking(truth))
        #expect(violations.contains { $0.truth == truth }, "\(violations)")
        #expect(ModelReport.text(Model.Plan(seed: 1, length: 5), .breaking(truth), violations).contains(truth.rawValue))
    }

    @Test func aCrashExcusesItsConsequences() {
        var history = Model.History.breaking(.forwardedOnce)
        history.copies[0].goneAt = 3.5
        #expect(truths(of: history) == [])
        history.misses = [.init(id: "d", copy: 11, sentAt: 3.4, at: 3.49, status: nil)]
        #expect(truths(of: history) == [])
        // A missed poll before the crash or at the other copy is a violation.
        history.misses = [.init(id: "d", copy: 11, sentAt: 3.2, at: 3.3, status: nil)]
        #expect(truths(of: history) == [.copiesAnswer])
        history.misses = [.init(id: "d", copy: 12, sentAt: 3.4, at: 3.49, status: nil)]
        #expect(truths(of: history) == [.copiesAnswer])
    }

    @Test func aFrozenCopyExcusesOnlyDelays() {
        for truth in [Model.Truth.heldPollsWake, .forwardedOnce, .readsAreSpaced] {
            var history = Model.History.breaking(truth)
            history.freezes = [.init(pid: 12, from: 1.2, to: 3.8)]
            #expect(!truths(of: history).contains(truth), "\(truth)")
        }
        for truth in [Model.Truth.deadlineHolds, .neverBack, .oneForwardAtOnce, .grantsHaveEvidence] {
            var history = Model.History.breaking(truth)
            history.freezes = [.init(pid: 12, from: 1.2, to: 3.8)]
            #expect(truths(of: history).contains(truth), "\(truth)")
        }
    }

    @Test func aFrozenCopysHangingCallMayOverlap() {
        var history = Model.History.breaking(.oneForwardAtOnce)
        let at = history.forwards[0].startedAt
        history.forwards[0].endedAt = at + 5
        #expect(truths(of: history).contains(.oneForwardAtOnce), "nothing is frozen")
        for from in [at + 1.37, at - 0.01] {
            history.freezes = [.init(pid: 12, from: from, to: at + 4.9)]
            #expect(!truths(of: history).contains(.oneForwardAtOnce))
        }
        // The call began after the freeze began, or ran long after the freeze.
        history.freezes = [.init(pid: 12, from: at - 1, to: at + 4.9)]
        #expect(truths(of: history).contains(.oneForwardAtOnce))
        history.freezes = [.init(pid: 12, from: at + 1.37, to: at + 2.37)]
        #expect(truths(of: history).contains(.oneForwardAtOnce))
    }

    @Test func anOperatorMaySendAgainAndGiveUp() {
        var history = Model.History.breaking(.forwardedOnce)
        history.acts = [.init(kind: .retry, id: "d", copy: 11, sentAt: 3.9, at: 3.92, status: 202)]
        #expect(truths(of: history) == [])
        history.acts[0].status = 409
        #expect(truths(of: history) == [.forwardedOnce])

        history = .breaking(.statusesGoWhereTheyMay)
        history.rows[2].status = .granted
        history.grants.append(.init(at: 3.4, subscription: 1, customer: 0))
        history.owners.append(.init(subscription: 1, customer: 0, id: "c"))
        history.rows[2].settledAt = 3.5
        #expect(truths(of: history) == [.statusesGoWhereTheyMay])
        history.events.insert(.made("c", .retried, at: 3.3), at: history.events.count - 1)
        history.acts = [.init(kind: .retry, id: "c", copy: 11, sentAt: 3.29, at: 3.31, status: 202)]
        #expect(truths(of: history) == [])
        history.acts = []
        #expect(truths(of: history) == [.rejectionsHaveEvidence])
    }

    @Test func aPurchaseThatIsOverMayGetANewValidation() {
        var history = Model.History.good
        let again = Model.Post.made(.refusedAgain, "post-e", at: 4, .accepted(id: "e", status: 202))
        history.posts.append(again)
        history.rows.append(.made("e", again, .rejected, settledAt: 4.06))
        history.forwards.append(.made(history.rows[4], at: 4.05, status: 422))
        history.events.append(.made("e", .rejected, at: 4.06))
        #expect(truths(of: history) == [])
        // After that, only its key may return the old validation.
        history.posts.append(.made(.refusedAgain, "key-c", key: 1, at: 5, .accepted(id: "c", status: 200)))
        #expect(truths(of: history) == [])
        history.posts.append(.made(.refusedAgain, "post-f", at: 5, .accepted(id: "c", status: 200)))
        #expect(truths(of: history) == [.onePurchaseOneValidation])
    }

    @Test func anOvertakenRequestThatTimedOutStaysOver() {
        var history = Model.History.good
        history.events.append(.made("d", .superseded, at: 6))
        let again = Model.Post.made(history.rows[3].purchase, "post-e", at: 7, .accepted(id: "e", status: 202))
        history.posts.append(again)
        history.rows.append(.made("e", again, .rejected, settledAt: 7.06))
        #expect(!truths(of: history).contains(.onePurchaseOneValidation))
        history.events.append(.made("d", .granted, at: 6.5))
        #expect(truths(of: history).contains(.onePurchaseOneValidation))
    }

    @Test func aRetriedRequestMayBeOvertakenAndGrantedInTime() {
        var history = Model.History.good
        let settledAt = history.rows[3].deadline - 0.1
        history.rows[3].status = .granted
        history.rows[3].settledAt = settledAt
        history.acts = [
            .init(kind: .retry, id: "d", copy: 11, sentAt: settledAt - 0.4, at: settledAt - 0.3, status: 202)
        ]
        history.events.removeAll { $0.id == "d" && $0.at > settledAt - 0.5 }
        history.events += [
            .made("d", .rejected, at: settledAt - 0.5), .made("d", .retried, at: settledAt - 0.3),
            .made("d", .superseded, at: settledAt - 0.2), .made("d", .granted, at: settledAt),
        ]
        let found = truths(of: history)
        #expect(!found.contains(.statusesGoWhereTheyMay) && !found.contains(.lateIsTrue), "\(found)")
        history.events.removeAll { $0.id == "d" && $0.kind == .retried }
        #expect(truths(of: history).contains(.statusesGoWhereTheyMay))
    }

    @Test func aSubscriptionThatCleengHandsBackIsExcused() {
        var history = Model.History.good
        #expect(!Model.Judge(history).handedBack(0))
        history.events.removeAll { $0.kind == .transferred }
        history.rows[0].status = .granted
        #expect(Set(truths(of: history)).isSuperset(of: [.oneOwner, .endAgrees]))
        history.grants.append(.init(at: 2.3, subscription: 0, customer: 0))
        #expect(Model.Judge(history).handedBack(0))
        #expect(truths(of: history).contains(.oneOwner) == false)
        #expect(truths(of: history).contains(.endAgrees) == false)
    }

    @Test func anOvertakenRequestMustStillBeGranted() {
        var history = Model.History.breaking(.endAgrees)
        history.events.insert(.made("d", .superseded, at: 3.2), at: history.events.count - 1)
        history.rows[3].reason = "superseded"
        #expect(truths(of: history).contains(.endAgrees))
    }

    @Test func aStalledMachineExcusesDelaysAndNothingElse() {
        for truth in [Model.Truth.neverStale, .heldPollsWake, .readsAreSpaced] {
            var history = Model.History.breaking(truth)
            history.stall = 2
            #expect(!truths(of: history).contains(truth), "\(truth)")
        }
        for truth in [Model.Truth.deadlineHolds, .neverBack, .oneForwardAtOnce, .forwardsInOrder, .endAgrees] {
            var history = Model.History.breaking(truth)
            history.stall = 2
            #expect(truths(of: history).contains(truth), "\(truth)")
        }
    }
}

extension Model.Purchase {
    fileprivate static var refusedAgain: Self { Model.History.refused }
}
