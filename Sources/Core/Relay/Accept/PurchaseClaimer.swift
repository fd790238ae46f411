public import RelayCore

/// Pursues purchases in the process that accepts them. The accepting statement also claims the purchase, so that no
/// further claim and no read of the receipt is needed. If the process dies, another copy claims the purchase after the
/// lease, as usual.
public protocol PurchaseClaimer: Sendable {
    /// Publishers whose own accounts this copy has.
    var own: [PublisherID] { get }
    var lease: Duration { get }

    /// Reserves a place. Either ``begin(_:since:)`` or ``release(_:)`` must follow.
    ///
    /// - Returns: false if the purchase must wait for a claim.
    func reserve(_ acceptance: Acceptance) -> Bool

    /// Releases the place of a purchase that was not accepted, or not claimed.
    func release(_ acceptance: Acceptance)

    /// Starts to pursue a claimed purchase.
    ///
    /// - Parameter claimedAt: a time before the statement was sent.
    func begin(_ claimed: ClaimedPursuit, since claimedAt: ContinuousClock.Instant)
}

extension ClaimedPursuit {
    /// The pursuit of a purchase that was claimed on acceptance.
    init(_ acceptance: Acceptance, acceptedAt: Timestamp, deadline: Timestamp) {
        let phase = acceptance.driver.firstPhase
        self.init(
            id: acceptance.id, fence: 1, publisher: acceptance.publisher, subscriptionKey: acceptance.subscriptionKey,
            customer: acceptance.email.customer, email: acceptance.email.sent, offerID: acceptance.offerID,
            isSending: true, overtakes: false, isOvertaken: false, strikes: 0, trace: acceptance.trace,
            environment: acceptance.environment, keepsOwner: acceptance.keepsOwner,
            takes: acceptance.keepsOwner ? acceptance.takes : [],
            pursuit: Pursuit(
                phase: phase, acceptedAt: acceptedAt, deadline: deadline,
                mayTransfer: acceptance.verification.result != .notGenuine && !acceptance.keepsOwner,
                paidUntil: phase.isRegistering ? acceptance.periods.first?.expiresAt : nil,
                isConfirmed: acceptance.verification == .genuine),
            accepted: acceptance.receipt.bytes.value.count <= Self.mostKeptBytes ? acceptance : nil)
    }

    /// Limit of receipts kept in memory, since all pursuits of a process may wait for Cleeng at once. A larger receipt
    /// is read from the database when it is sent.
    private static let mostKeptBytes = 65_536
}
