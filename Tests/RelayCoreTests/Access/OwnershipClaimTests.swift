import Testing

@testable import RelayCore

/// A purchase that is newer than the owner's, from a customer whom Cleeng entitles now.
@Suite("Claims of a subscription") struct OwnershipClaimTests {
    private let owner = OwnershipClaim.Owner(
        acceptedAt: Timestamp(seconds: 100), since: Timestamp(seconds: 110), unsettledUntil: Timestamp(seconds: 170))

    private func claim(
        entitledBefore: Bool?, isProven: Bool = false, acceptedAt: Int64 = 200, observedAt: Int64 = 205,
        isOwnerEntitled: Bool? = nil, progress: OwnershipClaim.ReadProgress = .init()
    ) -> OwnershipClaim {
        OwnershipClaim(
            acceptedAt: Timestamp(seconds: acceptedAt), observedAt: Timestamp(seconds: observedAt),
            entitledBefore: entitledBefore, isProven: isProven,
            ownerReading: isOwnerEntitled.map { .init(isEntitled: $0, observedAt: Timestamp(seconds: observedAt + 1)) },
            progress: progress)
    }

    @Test("a customer without earlier access has it by the purchase")
    func newAccess() {
        #expect(claim(entitledBefore: false, acceptedAt: 101).judge(against: owner) == .takes)
        // Both have the same time, so the order in which Cleeng handled them is unknown.
        #expect(claim(entitledBefore: false, acceptedAt: 100, observedAt: 171).judge(against: owner) == .asksOfOwner)
    }

    @Test("with earlier or unknown access, the owner's access decides", arguments: [true, nil])
    func perhapsOldAccess(entitledBefore: Bool?) {
        var claim = claim(entitledBefore: entitledBefore)
        #expect(claim.judge(against: owner) == .asksOfOwner)
        claim.ownerReading = .init(isEntitled: true, observedAt: Timestamp(seconds: 206))
        #expect(claim.judge(against: owner) == .standsAlone)
        claim.ownerReading = .init(isEntitled: false, observedAt: Timestamp(seconds: 206))
        #expect(claim.judge(against: owner) == .takes)
    }

    /// The two reads show two moments, and the newer request may have moved the subscription between them.
    @Test("no separate grant is made while a newer request waits")
    func newerRequest() {
        var claim = claim(entitledBefore: nil)
        var owner = owner
        claim.ownerReading = .init(isEntitled: true, observedAt: Timestamp(seconds: 206))
        for (accepted, verdict) in [(199, .standsAlone), (200, .standsAlone), (201, .readsAgain)]
            as [(Int64, OwnershipClaim.Verdict)]
        {
            owner.newestWaiting = Timestamp(seconds: accepted)
            #expect(claim.judge(against: owner) == verdict)
        }
        claim.ownerReading?.isEntitled = false
        #expect(claim.judge(against: owner) == .takes)
    }

    /// The owner was granted at 110. Until 170, Cleeng may still be moving the subscription.
    @Test(
        "a customer entitled beside the owner is granted at the third read, and at the last one before the deadline",
        arguments: [(false, false), (true, false), (false, true), (true, true)])
    func entitledBesideTheOwner(hasWaited: Bool, isLastRead: Bool) {
        let canWait = !hasWaited && !isLastRead
        for acceptedAt in [90, 105] as [Int64] {
            func verdict(_ observedAt: Int64, isOwnerEntitled: Bool?) -> OwnershipClaim.Verdict {
                claim(
                    entitledBefore: true, acceptedAt: acceptedAt, observedAt: observedAt,
                    isOwnerEntitled: isOwnerEntitled, progress: .init(hasWaited: hasWaited, isLastRead: isLastRead)
                ).judge(against: owner)
            }
            let isNewer = acceptedAt >= 100
            // A read from before the owner's grant proves nothing.
            #expect(verdict(110, isOwnerEntitled: true) == .readsAgain)
            #expect(verdict(120, isOwnerEntitled: nil) == (!isNewer && canWait ? .readsAgain : .asksOfOwner))
            #expect(verdict(120, isOwnerEntitled: true) == (canWait ? .readsAgain : .standsAlone))
            // An older request takes nothing before 170, unless it has waited and can wait no longer.
            let ofOlder: OwnershipClaim.Verdict = !isLastRead ? .readsAgain : hasWaited ? .takes : .standsAlone
            #expect(verdict(120, isOwnerEntitled: false) == (isNewer ? .takes : ofOlder))
            #expect(verdict(171, isOwnerEntitled: true) == .standsAlone)
            #expect(verdict(171, isOwnerEntitled: false) == .takes)
        }
    }

    @Test("while a newer request waits, only the last read before the deadline grants")
    func lastRead() {
        var owner = owner
        owner.newestWaiting = Timestamp(seconds: 201)
        for (hasWaited, isLastRead) in [(false, false), (true, false), (false, true), (true, true)] {
            let claim = claim(
                entitledBefore: true, isOwnerEntitled: true,
                progress: .init(hasWaited: hasWaited, isLastRead: isLastRead))
            #expect(claim.judge(against: owner) == (isLastRead ? .standsAlone : .readsAgain))
        }
    }

    @Test("the third read is two intervals after the forward, and the last one less than one before the deadline")
    func progress() {
        let reads = ReadSchedule(interval: .seconds(5), reconcileFor: .seconds(86_400))
        func progress(_ read: Int64, watchedSince: Int64?, late: Bool = false) -> OwnershipClaim.ReadProgress {
            let read = Timestamp(seconds: read)
            return reads.progress(
                of: .init(status: .granted, late: late, at: read, observedAt: read),
                watchedSince: watchedSince.map { Timestamp(seconds: $0) }, deadline: Timestamp(seconds: 60), at: read)
        }
        for (read, hasWaited, isLastRead) in [
            (2, false, false), (11, false, false), (12, true, false), (54, true, false), (55, true, true),
        ] as [(Int64, Bool, Bool)] {
            #expect(progress(read, watchedSince: 2) == .init(hasWaited: hasWaited, isLastRead: isLastRead), "\(read)")
        }
        #expect(progress(57, watchedSince: 57) == .init(isLastRead: true))
        // No app waits any more, or Cleeng has not accepted the purchase.
        #expect(progress(60, watchedSince: 2) == .init())
        // Not even before the deadline, if a newer request has overtaken this one.
        for read in [12, 55] as [Int64] { #expect(progress(read, watchedSince: 2, late: true) == .init()) }
        #expect(progress(30, watchedSince: nil) == .init())
    }

    @Test("Cleeng's statement of a transfer decides")
    func proven() { #expect(claim(entitledBefore: true, isProven: true).judge(against: owner) == .takes) }

    @Test("without another owner no question is needed", arguments: [true, false, nil])
    func free(entitledBefore: Bool?) { #expect(claim(entitledBefore: entitledBefore).judge(against: nil) == .takes) }
}
