import Postgres
import RelayCore

extension ClaimedPursuit {
    /// From the columns of a claim.
    ///
    /// - Throws: ``StoreError`` or ``PostgresError`` for what this version cannot make sense of, and where it was claimed in vain
    ///   too often.
    init(_ row: PostgresRow) throws {
        let strikes = try row.get(22, as: Int.self)
        guard strikes < Self.strikesToPark else {
            throw StoreError.claimedInVain(times: strikes, trouble: try row.get(23))
        }
        // The only columns that a validation always has: without it they are NULL.
        guard let email = try row.open(17, as: EmailAddress?.self), let offerID = try row.get(18, as: OfferID?.self)
        else {
            throw StoreError.missingRow("its validation")
        }
        let phase = try row.get(8, as: Int16.self)
        guard let phase = Pursuit.Phase(rawValue: phase) else {
            throw StoreError.unknownNumber(column: "phase", number: Int(phase))
        }
        self.init(
            id: try row.validationID(bucket: 0, day: 1, id: 2), fence: try row.get(3), publisher: try row.get(4),
            subscriptionKey: try row.get(5), customer: try row.open(6), email: email, offerID: offerID,
            isSending: try row.get(7), overtakes: try row.get(19), isOvertaken: try row.get(20), strikes: strikes,
            trace: try row.get(28), environment: try row.get(29),
            pursuit: Pursuit(
                phase: phase, status: try row.status(9), acceptedAt: try row.finiteTimestamp(10, "accepted_at"),
                deadline: try row.finiteTimestamp(11, "deadline"), forwards: try row.get(12),
                retryAt: try row.timestampIfSet(13), forwardedAt: try row.timestampIfSet(14),
                readAt: try row.timestampIfSet(15), entitledBefore: try row.get(16), synchronization: try row.get(24),
                transfers: try row.get(25),
                mayTransfer: try row.get(26, as: Int16.self) != Verification.Result.notGenuine.rawValue,
                paidUntil: try Self.paidUntil(row.get(27))))
    }

    /// - Parameter period: what the receipt says of its subscription.
    private static func paidUntil(_ period: String?) throws -> Timestamp? {
        try period.flatMap { try LedgerJSON.value(LedgerPeriod.self, $0, column: "validations.period").expiresAt }
    }
}
