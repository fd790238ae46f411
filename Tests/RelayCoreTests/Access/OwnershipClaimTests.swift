import RelayCore
import Testing

/// A purchase that is newer than the owner's, of a customer whom Cleeng entitles now.
@Suite("Who takes a subscription") struct OwnershipClaimTests {
    private let owner = OwnershipClaim.Owner(
        acceptedAt: Timestamp(seconds: 100), since: Timestamp(seconds: 110), unsettledUntil: Timestamp(seconds: 170))

    private func claim(entitledBefore: Bool?, isProven: Bool = false) -> OwnershipClaim {
        OwnershipClaim(
            acceptedAt: Timestamp(seconds: 200), observedAt: Timestamp(seconds: 205), entitledBefore: entitledBefore,
            isProven: isProven)
    }

    @Test("whoever had no access before has it by the purchase")
    func newAccess() { #expect(claim(entitledBefore: false).judge(against: owner) == .takes) }

    @Test("of whoever had access before, or may have had it, the owner's access decides", arguments: [true, nil])
    func perhapsOldAccess(entitledBefore: Bool?) {
        var claim = claim(entitledBefore: entitledBefore)
        #expect(claim.judge(against: owner) == .asksOfOwner)
        claim.rival = .init(isEntitled: true, observedAt: Timestamp(seconds: 206))
        #expect(claim.judge(against: owner) == .standsAlone)
        claim.rival = .init(isEntitled: false, observedAt: Timestamp(seconds: 206))
        #expect(claim.judge(against: owner) == .takes)
    }

    /// The two reads show two moments, and the newer request may have moved the subscription between them.
    @Test("no grant stands alone while a newer request waits")
    func newerRequest() {
        var claim = claim(entitledBefore: nil)
        var owner = owner
        claim.rival = .init(isEntitled: true, observedAt: Timestamp(seconds: 206))
        for (accepted, verdict) in [(199, .standsAlone), (200, .standsAlone), (201, .readsAgain)]
            as [(Int64, OwnershipClaim.Verdict)]
        {
            owner.newestWaiting = Timestamp(seconds: accepted)
            #expect(claim.judge(against: owner) == verdict)
        }
        claim.rival?.isEntitled = false
        #expect(claim.judge(against: owner) == .takes)
    }

    @Test("Cleeng's statement that it passed the subscription decides")
    func proven() { #expect(claim(entitledBefore: true, isProven: true).judge(against: owner) == .takes) }

    @Test("nobody needs to be asked where nobody else owns it", arguments: [true, false, nil])
    func free(entitledBefore: Bool?) { #expect(claim(entitledBefore: entitledBefore).judge(against: nil) == .takes) }
}
