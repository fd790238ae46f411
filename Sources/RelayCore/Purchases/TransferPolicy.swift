/// Whether a purchase may move a subscription from the customer who has it.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// The customer who sends the purchase, if Cleeng grants it.
    case move
    /// Nobody, while the owner's access runs.
    case refuse
    /// The customer whose account token the purchase carries.
    case requireToken = "require-token"
}
