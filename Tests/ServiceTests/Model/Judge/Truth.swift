extension Model {
    /// Facts that must hold of every history.
    enum Truth: String, Sendable, CaseIterable {
        /// Every accepted post has a row of the posted purchase. No client gets 404 for its id.
        case acceptedIsKept
        /// In the end every accepted purchase was sent, or a newer request or an operator ended it. Nothing is pending
        /// or parked.
        case acceptedIsSettled
        case onePurchaseOneValidation
        /// An Idempotency-Key always names one validation and one body.
        case keyNamesOne
        /// The timeline has only transitions of the state machine, and ends with the row's status.
        case statusesGoWhereTheyMay
        /// One client that polls one copy never sees an earlier status again.
        case neverBack
        /// No poll is older than what was settled, or seen elsewhere, by more than ``Pace/lag``.
        case neverStale
        /// Nothing is pending at its deadline, and nothing times out before it.
        case deadlineHolds
        /// A held poll ends soon after the change that it waits for.
        case heldPollsWake
        /// A running copy answers, and never with an error.
        case copiesAnswer
        /// A grant requires a grant by Cleeng.
        case grantsHaveEvidence
        /// A rejection requires a refusal by Cleeng or an operator who gave up.
        case rejectionsHaveEvidence
        /// A superseded request has a newer request.
        case supersededByNewer
        /// `late` is set exactly if the grant came after the deadline.
        case lateIsTrue
        /// No two customers have one subscription at the same time. Each transfer starts at the previous owner.
        case oneOwner
        /// The newest granted request owns the subscription.
        case newestOwns
        /// No older request is sent after a newer one, unless the newer one was refused.
        case forwardsInOrder
        case oneForwardAtOnce
        /// A purchase that Cleeng has accepted is not sent again, except after a crash or by an operator.
        case forwardedOnce
        /// At most one entitlement read of a customer in an interval, over all copies. Baseline reads before a forward
        /// do not count.
        case readsAreSpaced
        /// In the end the relay and the simulator name the same owner of each subscription.
        case endAgrees
    }

    struct Violation: Sendable, CustomStringConvertible {
        var truth: Truth
        var what: String
        /// Ids of its validations.
        var ids: [String]

        var description: String { "\(truth.rawValue): \(what)" }
    }
}
