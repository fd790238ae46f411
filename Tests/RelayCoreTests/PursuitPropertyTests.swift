import Testing

@testable import RelayCore

/// Invariants over many random lives of a pursuit.
struct PursuitPropertyTests {
    private static let all = Walk.obedient + Walk.wild

    private func always(
        in walks: [Walk], sourceLocation: SourceLocation = #_sourceLocation, _ claim: (Step) -> Bool
    ) {
        for walk in walks {
            guard let index = walk.steps.firstIndex(where: { !claim($0) }) else { continue }
            Issue.record("seed \(walk.seed), step \(index): \(walk.steps[index])", sourceLocation: sourceLocation)
            return
        }
    }

    /// The walks must reach every kind of event, or the checks below prove nothing.
    @Test func theWalksSeeEverything() {
        for walks in [Walk.obedient, Walk.wild] {
            let steps = walks.flatMap(\.steps)
            func count(_ holds: (Step) -> Bool) -> Int { steps.count(where: holds) }
            #expect(count { $0.decision.change?.status == .granted && $0.decision.change?.late == false } > 20)
            #expect(count { $0.decision.change?.status == .granted && $0.before.status == .timedOut } > 20)
            #expect(count { $0.decision.kinds.suffix(2) == [.timedOut, .granted] } > 0)
            #expect(count { $0.decision.kinds.suffix(2) == [.timedOut, .rejected] } > 0)
            #expect(count { $0.decision.change?.status == .rejected } > 20)
            #expect(count { $0.decision.change?.status == .timedOut && !$0.isOvertaken } > 20)
            #expect(count { $0.isOvertaken && $0.before.status == .pending && $0.now < $0.after.deadline } > 3)
            #expect(count { $0.isOvertaken && $0.decision.kinds == [.timedOut, .superseded] } > 0)
            #expect(count { $0.isOvertaken && $0.before.status == .timedOut } > 3)
            #expect(count { $0.isOvertaken && $0.after.forwards == 0 } > 0)
            #expect(count { $0.isRejected && !$0.isRefusedRepeat } > 20)
            #expect(count { $0.isRefusedRepeat } > 20)
            #expect(count { $0.before.status == .rejected && $0.decision.change?.status == .granted } > 3)
            #expect(count { $0.decision.change?.late == true && $0.now < $0.after.deadline } > 0)
            #expect(count { $0.read != nil && $0.after.status == .timedOut && $0.decision.next == .finished } > 20)
            #expect(count { $0.isAccepted && $0.now > $0.after.deadline } > 20)
            #expect(count { $0.retryAfter != nil } > 20)
            #expect(count { $0.hasReadFailed && $0.read.map(\.observedAt) ?? $0.now >= $0.watchEnds } > 20)
            #expect(count { $0.read != nil && $0.decision.next == .rest(until: $0.now) } > 20)
        }
        #expect(Walk.obedient.flatMap(\.steps).contains { $0.isOvertaken && $0.before.status == .rejected })
    }

    @Test func nothingIsPendingAtOrAfterTheDeadline() {
        always(in: Self.all) { $0.after.status != .pending || $0.now < $0.after.deadline }
    }

    @Test func nothingLeavesAGrant() {
        always(in: Self.all) { $0.before.status != .granted }
        always(in: Self.all) { $0.after.status != .granted || $0.decision.next == .finished }
    }

    @Test func statusesGoOnlyWhereTheyMay() {
        let allowed: [ValidationStatus: Set<ValidationStatus>] = [
            .pending: [.pending, .granted, .rejected, .timedOut], .timedOut: [.timedOut, .granted, .rejected],
            .rejected: [.rejected, .granted],
        ]
        always(in: Self.all) { allowed[$0.before.status]?.contains($0.after.status) == true }
    }

    @Test func aDecisionNamesEveryChangeOfStatus() {
        always(in: Self.all) { $0.after.status == ($0.decision.change?.status ?? $0.before.status) }
        always(in: Self.all) { step in
            guard let change = step.decision.change else {
                let isSettledAndOvertaken = step.isOvertaken && step.before.status == .rejected
                return step.decision.kinds.filter { $0.rawValue < 10 } == (isSettledAndOvertaken ? [.superseded] : [])
            }
            guard let last = step.decision.events.last else { return false }
            return last.at == (step.isOvertaken ? step.now : change.at) && last.kind.rawValue < 10
        }
    }

    @Test func aGrantNeedsAYesAndAYesIsAlwaysAGrant() {
        always(in: Self.all) { step in
            guard let read = step.read, case .entitled(let expiresAt, let evidence) = read.verdict else {
                return step.decision.change?.status != .granted
            }
            let isLate = step.now >= step.after.deadline || step.before.status == .timedOut
            return step.decision.change
                == Decision.Change(
                    status: .granted, late: isLate, at: step.now, expiresAt: expiresAt, evidence: evidence,
                    observedAt: read.observedAt)
        }
    }

    @Test func onlyARejectionRejectsAndItAlwaysDoes() {
        always(in: Self.all) { ($0.decision.change?.status == .rejected) == $0.isRejected }
        always(in: Self.all) { !$0.isRejected || $0.decision.next == ($0.isRefusedRepeat ? .read : .finished) }
        always(in: Self.all) { !$0.isRejected || $0.decision.change?.reason?.isEmpty == false }
    }

    @Test func everyChangeHasItsTime() {
        always(in: Self.all) { step in
            guard let change = step.decision.change else { return true }
            switch change.status {
            case .timedOut where !step.isOvertaken:
                return change == Decision.Change(status: .timedOut, at: step.after.deadline)
            case .timedOut:
                return change
                    == Decision.Change(
                        status: .timedOut, reason: "superseded", at: min(step.now, step.after.deadline))
            case .granted, .rejected: return change.at == step.now
            case .pending, .transferred, .revoked: return false
            }
        }
        always(in: Self.all) { step in step.decision.events.allSatisfy { $0.at <= step.now } }
    }

    @Test func aPauseEndsAfterNowAndByTheDeadlineIfPending() {
        always(in: Self.all) { step in
            guard case .rest(let moment) = step.decision.next else { return true }
            guard step.after.status != .pending || moment <= step.after.deadline else { return false }
            // An overtaken pursuit that is watched has no pause, and neither has one after a slow read: the next read
            // is already due, or the watch has ended.
            guard !step.isOvertaken else { return moment == step.now }
            guard let sent = step.read?.observedAt, sent < step.now else { return moment > step.now }
            let due = min(sent + step.reads.interval, step.watchEnds)
            return moment > step.now || (moment == step.now && due <= step.now)
        }
    }

    @Test func readsAreCountedFromWhenTheLastOneWasSent() {
        always(in: Self.all) { step in
            guard let read = step.read, step.retryAfter == nil, step.decision.next != .finished else { return true }
            guard read.observedAt < step.watchEnds else { return step.hasReadFailed }
            guard step.watchEnds - step.reads.reconcileFor <= read.observedAt else {
                return step.after.readAt == max(read.observedAt + step.reads.interval, step.now)
            }
            return step.after.readAt.map { $0 >= step.now && $0 <= max(step.watchEnds, step.now) } == true
        }
    }

    @Test func noFailedReadEndsAPursuit() {
        always(in: Self.all) { step in
            guard step.hasReadFailed else { return true }
            guard case .rest = step.decision.next, let readAt = step.after.readAt else { return false }
            return readAt
                <= max(step.now + max(.seconds(3600), step.reads.interval), step.now + (step.retryAfter ?? .zero))
        }
    }

    @Test func aRetryFollowsAfterHalfASecondToAMinuteOrAsRequested() {
        always(in: Self.all) { step in
            guard step.isForward, !step.isAccepted, !step.isRejected else { return true }
            guard let delay = step.after.retryAt.map({ $0 - step.now }) else { return false }
            return delay >= .milliseconds(500) && delay <= max(.seconds(60), step.retryAfter ?? .zero)
        }
    }

    @Test func anEndedPursuitIsSettledAndAbandonedOnlyAfterTheWatch() {
        always(in: Self.all) { $0.decision.next != .finished || $0.after.status != .pending }
        always(in: Self.all) { step in
            guard step.decision.next == .finished, step.after.status != .granted else { return true }
            if step.isOvertaken { return step.after.forwards == 0 }
            if step.isRejected { return !step.isRefusedRepeat }
            guard let read = step.read, case .notEntitled = read.verdict else { return false }
            return read.observedAt >= step.watchEnds
        }
        always(in: Walk.obedient) { step in
            step.decision.next != .finished || step.after.phase == .watching || step.isRejected || step.isOvertaken
        }
    }

    @Test func theNextTimesNeverGoBack() {
        always(in: Walk.obedient) { step in
            func goesOn(_ before: Timestamp?, _ after: Timestamp?) -> Bool {
                guard let before, let after else { return true }
                return after >= before
            }
            return goesOn(step.before.readAt, step.after.readAt) && goesOn(step.before.retryAt, step.after.retryAt)
        }
    }

    @Test func whatTheUpstreamAskedForIsNeverUndercut() {
        always(in: Self.all) { step in
            guard let retryAfter = step.retryAfter else { return true }
            let next = step.isForward ? step.after.retryAt : step.after.readAt
            return next.map { $0 >= step.now + retryAfter } == true
        }
    }

    @Test func forwardsAreCountedAndOnlySentPurchasesAreWatched() {
        always(in: Self.all) { $0.after.forwards == $0.before.forwards + ($0.isForward ? 1 : 0) }
        always(in: Self.all) { !$0.isAccepted || $0.decision.next == .read }
        always(in: Self.all) { step in
            let isTaken = step.isAccepted || step.isRefusedRepeat || (step.isOvertaken && step.before.forwards > 0)
            guard isTaken else { return step.after.phase == step.before.phase }
            return step.after.phase == .watching && step.after.watchedSince == step.now
        }
    }

    @Test func everyAnswerIsInTheTimeline() {
        always(in: Self.all) { step in
            let expected: TimelineEvent.Kind?
            switch step.event {
            case .woken, .readPostponed: expected = step.decision.change == nil ? nil : .timedOut
            case .overtaken:
                let isExpired = step.before.status == .pending && step.now >= step.before.deadline
                return step.decision.kinds == (isExpired ? [.timedOut, .superseded] : [.superseded])
            case .forwardAnswered(.accepted), .forwardAnswered(.rejected): expected = .forwarded
            case .forwardAnswered: expected = .forwardFailed
            case .readAnswered(let answer):
                switch answer.verdict {
                case .entitled, .notEntitled: expected = .entitlementRead
                case .misconfigured, .tryAgain: expected = .entitlementReadFailed
                }
            }
            return step.decision.kinds.first == expected
        }
    }

    @Test func whatWasAcceptedIsNotChanged() {
        always(in: Self.all) {
            $0.after.acceptedAt == $0.before.acceptedAt && $0.after.deadline == $0.before.deadline
                && $0.after.entitledBefore == $0.before.entitledBefore
        }
    }
}
