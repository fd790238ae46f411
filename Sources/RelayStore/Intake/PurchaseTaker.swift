public import RelayCore

/// Pursues purchases in the process that accepts them. The statement that accepts such a purchase claims it too: no claim follows, and
/// nobody reads the receipt back. When the process dies, another copy claims the purchase after the lease, as after any claim.
public protocol PurchaseTaker: Sendable {
    /// Publishers whose own accounts this copy has.
    var own: [PublisherID] { get }
    var lease: Duration { get }

    /// Reserves a place, which ``begin(_:since:)`` or ``release(_:)`` takes.
    ///
    /// - Returns: false where the purchase has to wait for a claim.
    func reserve(_ acceptance: Acceptance) -> Bool

    /// It was not accepted, or not claimed.
    func release(_ acceptance: Acceptance)

    /// Pursues it.
    ///
    /// - Parameter claimedAt: a moment before the statement was sent.
    func begin(_ claimed: ClaimedPursuit, since claimedAt: ContinuousClock.Instant)
}

extension ClaimedPursuit {
    /// Makes the pursuit of a purchase that was claimed as it was accepted.
    init(_ acceptance: Acceptance, acceptedAt: Timestamp, deadline: Timestamp) {
        let phase = acceptance.driver.firstPhase
        self.init(
            id: acceptance.id, fence: 1, publisher: acceptance.publisher, subscriptionKey: acceptance.subscriptionKey,
            customer: acceptance.email.customer, email: acceptance.email.sent, offerID: acceptance.offerID,
            isSending: true, overtakes: false, isOvertaken: false, strikes: 0, trace: acceptance.trace,
            environment: acceptance.environment, keepsOwner: acceptance.keepsOwner,
            pursuit: Pursuit(
                phase: phase, acceptedAt: acceptedAt, deadline: deadline,
                mayTransfer: acceptance.verification.result != .notGenuine && !acceptance.keepsOwner,
                paidUntil: phase.isRegistering ? acceptance.period?.expiresAt : nil,
                isConfirmed: acceptance.verification == .genuine),
            accepted: acceptance.receipt.bytes.value.count <= Self.mostKeptBytes ? acceptance : nil)
    }

    /// Larger receipts are read back when they are sent: as many purchases as a process pursues may wait for Cleeng at once.
    private static let mostKeptBytes = 65_536
}
