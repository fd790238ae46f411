/// Result of asking a store about a purchase. No case holds a secret, a token, or the text of an answer.
public enum StoreAnswer<Value: Sendable>: Sendable {
    case found(Value)
    /// The store does not have the purchase, or no longer. The reason is one of a small set.
    case notAPurchase(String)
    /// The store refuses our key, our secret or our settings. This must not affect any purchase.
    case misconfigured(String)
    /// A temporary failure. `retryAfter` is between a second and an hour, if the store stated it.
    case tryAgain(String, retryAfter: Duration?)
}

extension StoreAnswer: Equatable where Value: Equatable {}
