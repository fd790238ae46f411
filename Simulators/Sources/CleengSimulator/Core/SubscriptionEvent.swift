/// One step in the life of a subscription.
struct SubscriptionEvent: Sendable {
    enum Kind: String, Sendable {
        /// First grant, or first after the one before was terminated.
        case created
        /// Another email posted the receipt: a new subscription for it, the old one terminated.
        case transferred
        /// The same email posted the receipt for another offer: a new subscription, the old one terminated.
        case upgraded
        /// Changed by hand through the control API.
        case set
        /// A notification of the App Store said so.
        case notified
        /// Its end came after a renewal that was not paid for.
        case lapsed
    }

    let at: Moment
    let kind: Kind
    let from: CustomerEmail?
    let to: CustomerEmail
    let offerId: OfferId
    let subscriptionId: Int
    let previousSubscriptionId: Int?
    let status: EntitlementStatus
}
