/// How a subscription came about; it decides what is told of it.
enum SubscriptionOrigin: Sendable {
    /// A receipt was posted.
    case payment
    /// A StoreKit 2 purchase was registered or moved.
    case synchronization
    /// Through the control API.
    case hand
}
