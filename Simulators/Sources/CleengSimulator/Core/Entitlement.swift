/// One customer's right to one offer. Cleeng has one for each subscription, so an offer can occur more than once.
struct Entitlement: Sendable {
    let subscriptionId: Int
    let originalTransactionId: String
    let offerId: OfferId
    var status: EntitlementStatus
    let grantedAt: Moment
    var expiresAt: Moment
    let appType: String
    /// The subscription that took over, after a transfer or an upgrade.
    var replacedBy: Int?
}
