/// A payment whose entitlement is still to come.
struct PendingGrant: AgendaEntry {
    /// Breaks ties between equal times in the order of arrival.
    let sequence: Int
    let grantAt: Moment
    let originalTransactionId: String
    let email: CustomerEmail
    let offerId: OfferId
    let status: EntitlementStatus
    let expired: Bool
    let appType: String

    var dueAt: Moment { grantAt }

    static func < (left: PendingGrant, right: PendingGrant) -> Bool {
        (left.grantAt, left.sequence) < (right.grantAt, right.sequence)
    }

    static func == (left: PendingGrant, right: PendingGrant) -> Bool { left.sequence == right.sequence }
}
