/// What a store said when it was asked about a purchase. No case holds a secret, a token, or the text of an answer.
public enum StoreAnswer<Value: Sendable>: Sendable {
    case found(Value)
    /// The store says no: it knows of no such purchase, or not any longer. The word says why, of a small set.
    case notAPurchase(String)
    /// It does not let us ask, or not this way: our key, our secret or our settings. No purchase may suffer for it.
    case misconfigured(String)
    /// Passing. `retryAfter`, within a second and an hour, as far as it was said.
    case tryAgain(String, retryAfter: Duration?)
}

extension StoreAnswer: Equatable where Value: Equatable {}
