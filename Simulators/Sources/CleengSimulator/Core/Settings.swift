/// What is decided when the simulator starts.
struct Settings: Sendable {
    /// From an accepted payment to its grant, unless behaviour says otherwise.
    var grantAfterMilliseconds: Int64 = 1_000
    /// What `+entitled` customers hold.
    var heldOffers: [OfferId] = ["S123456789_US", "S598742062_US"].compactMap { OfferId($0) }
    /// Of what offer a StoreKit 2 transaction is that nobody told of.
    var storeKit2Offer = OfferId.standard
    /// How many requests `/_simulator/requests` remembers.
    var requestCapacity = 100_000
    var customerCapacity = 500_000
    var subscriptionCapacity = 500_000
    var transactionCapacity = 500_000
    var synchronizationCapacity = 500_000
    /// How many events may wait to be sent.
    var webhookCapacity = 10_000
    /// By which events name the publisher.
    var broadcasterId: Int64 = 123_456_789
    /// Where events go at first; nil: nowhere.
    var webhooks: WebhookTarget?
    /// How long a granted subscription runs.
    var periodMilliseconds: Int64 = 30 * 86_400_000
}
