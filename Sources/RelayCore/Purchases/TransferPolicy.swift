/// Whether a purchase may move a subscription away from its owner.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// It moves to the customer who sends the purchase, if Cleeng grants it.
    case move
    /// It does not move while the owner's access runs.
    case refuse
    /// It moves only to the customer whose account token the purchase contains.
    case requireToken = "require-token"
}
