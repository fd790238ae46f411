extension Model {
    /// What is asked of every history.
    enum Truth: String, Sendable, CaseIterable {
        /// Every answer that promised has its row, which is the purchase that was posted; nobody is told of an id that it is unknown.
        case acceptedIsKept
        /// In the end everything accepted was sent, or a newer request or an operator ended it; nothing is pending or parked.
        case acceptedIsSettled
        case onePurchaseOneValidation
        /// An Idempotency-Key names one validation for ever, and no other body.
        case keyNamesOne
        /// The timeline takes only the ways that the state machine has, and ends where the row is.
        case statusesGoWhereTheyMay
        /// One client that asks one copy never sees a status go back.
        case neverBack
        /// No poll lags behind what was settled, or seen elsewhere, by more than a tick.
        case neverStale
        /// Nothing is pending at its deadline, and nothing times out before it.
        case deadlineHolds
        /// A held poll ends soon after the change that it waits for.
        case heldPollsWake
        /// A copy that lives answers, and never with an error.
        case copiesAnswer
        /// A grant, only where Cleeng had granted.
        case grantsHaveEvidence
        /// A rejection, only where Cleeng refused or an operator gave up.
        case rejectionsHaveEvidence
        /// Superseded, only where there is a newer request.
        case supersededByNewer
        /// `late` says whether a grant came after the deadline.
        case lateIsTrue
        /// At no time two customers have one subscription, and each transfer goes from the owner before.
        case oneOwner
        /// The newest of the requests that were granted owns the subscription.
        case newestOwns
        /// No older request is sent after a newer one, unless that was refused.
        case forwardsInOrder
        case oneForwardAtOnce
        /// What Cleeng has taken is not sent again, except after a crash or by an operator.
        case forwardedOnce
        /// At most one entitlement read of a customer in an interval, over all copies; the one before a forward is not counted.
        case readsAreSpaced
        /// In the end the relay says of each subscription what the simulator says.
        case endAgrees
    }

    struct Violation: Sendable, CustomStringConvertible {
        var truth: Truth
        var what: String
        /// The validations that it is about.
        var ids: [String]

        var description: String { "\(truth.rawValue): \(what)" }
    }
}
