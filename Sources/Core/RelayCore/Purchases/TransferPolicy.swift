/// Whether a purchase may move a subscription away from its owner.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// The subscription moves to the customer who sends the purchase, if Cleeng grants it.
    case move
    /// The subscription does not move while its owner's access runs.
    case refuse
    /// The subscription moves only to the customer whose account token the purchase contains.
    case requireToken = "require-token"
}
