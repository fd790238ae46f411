/// How Cleeng says what came of a receipt that was good.
enum ValidationResult: String, Sendable {
    case created = "SubscriptionCreated"
    case transferred = "SubscriptionTransferred"
    /// The same receipt from the same customer again.
    case synchronized = "SubscriptionSynchronized"
    /// The same customer again, after the subscription had ended.
    case revived = "SubscriptionRevived"
}
